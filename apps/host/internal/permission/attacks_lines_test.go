package permission

import "testing"

// TestAttacksLines: bash splits a text into lines and comments differently from the parser.
func TestAttacksLines(t *testing.T) {
	holds(t, []attack{
		{"comment that seems continued", "echo #\\\nrm -rf src", "n?????"},
		{"comment after a blank that seems continued", "ls # list \\\nrm -rf src", "n?????"},
		{"comment after quotes that seems continued", "ls \"src\" # \"list \\\nrm -rf src", "n?????"},
		{"comment after git", "git status #\\\ngit push --force", "n?????"},
		{"comment in a substitution", "echo \"$(ls # list \\\nrm -rf src)\"", "n?????"},
		{"comment in a nested script", "bash -c 'ls #\\\nrm -rf src'", "n?????"},
		{"comment in a document for a shell", "bash <<'E'\nls #\\\nrm -rf src\nE", "n?????"},
		{"substitution cut by a continuation", "echo \"$\\\n(rm -rf src)\"", "n?????"},
		{"substitution cut in a document", "cat <<E\n$\\\n(rm -rf src)\nE", "n?????"},
		{"variable cut by a continuation", "cat $\\\nHOME/.scorel/identity.json", "nnnnnn"},
		{"document that ends early in a substitution", "echo $(cat <<'E'\nE); rm -rf src #\nE\n)", "n?????"},
		{"document that ends early after a blank", "git commit -m $(cat <<E\na\nE ); rm -rf src #\nE\n)", "n?????"},
		{"document that ends early after tabs", "git commit -m $(cat <<-\"E\"\n\tE) && rm -rf src #\nE\n)", "n?????"},
		{"carriage return as a continuation", "echo \\\r\nrm -rf src", "n?????"},
		{"carriage return as a blank", "echo a\r#b; rm -rf src", "n?????"},
		{"continued word", "rm -r\\\nf src", "n?????"},
		{"floor after a doubtful line", "echo #\\\nls\nrm -rf /", "nnnnnn"},
	})
}
