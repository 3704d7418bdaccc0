package permission

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// there reports whether a path exists and whether it is a folder.
func (p Policy) there(full string) (exists, folder bool) {
	if p.Exists == nil {
		return false, false
	}
	return p.Exists(full)
}

// loses describes what a command destroys beyond recovery, or returns "". See loss_git.go
// for git.
func (p Policy) loses(c command) string {
	name, args := base(c.words[0].text), c.plain()[1:]
	switch name {
	case "git":
		if why := p.gitLoses(c); why != "" {
			return why
		}
	case "find":
		if slices.ContainsFunc(args, func(a string) bool { return a == "-delete" || strings.HasPrefix(a, "-fprint") || a == "-fls" }) {
			return "find deletes or writes files that the command line does not name"
		}
	case "rm", "unlink", "rmdir":
		if !c.literal() {
			return name + " deletes all files that match a pattern"
		}
	case "shred", "truncate", "fallocate", "rename", "mmv", "srm", "wipe", "trash-empty":
		return name + " destroys the content of files"
	case "rsync":
		if hasLong(args, "--del", "--remove-source-files", "--remove-sent-files") {
			return "rsync deletes files"
		}
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		if has(args, 'R', "--recursive") {
			return name + " changes the permissions of whole folders"
		}
	}
	if why := unpacks(name, args); why != "" {
		return why
	}
	if why := destroysElsewhere(name, args); why != "" {
		return why
	}
	return p.overwrites(c, name)
}

// hasLong reports whether an option begins with one of the texts.
func hasLong(args []string, begin ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(begin, func(b string) bool { return strings.HasPrefix(a, b) })
	})
}

// unpacks describes how an archive overwrites existing files. The archive names them, not
// the command line.
func unpacks(name string, args []string) string {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	switch name {
	case "tar", "bsdtar", "gtar":
		switch {
		case hasLong(args, "--to-command", "--checkpoint-action", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"), has(args, 'I'), has(args, 'F'):
			return "tar runs a program"
		case hasLong(args, "--remove-files", "--delete"):
			return "tar deletes files"
		case hasLong(args, "--keep-old", "--skip-old"), has(args, 'k'):
		case hasLong(args, "--extract", "--get"), has(args, 'x'), !strings.HasPrefix(first, "-") && strings.Contains(first, "x"):
			return "tar overwrites files that the archive names"
		}
	case "unzip":
		if has(args, 'o') {
			return "unzip overwrites files that the archive names"
		}
	case "7z", "7za", "7zz", "unrar", "unar", "cpio", "pax", "ar":
		if slices.Contains([]string{"x", "e"}, first) || has(args, 'i', "--extract") || has(args, 'r') || has(args, 'o') {
			return name + " overwrites files that the archive names"
		}
	case "zip":
		if has(args, 'm', "--move") || has(args, 'd', "--delete") {
			return "zip deletes files"
		}
	}
	return ""
}

// overwrites names the existing file that a command overwrites, or returns "".
func (p Policy) overwrites(c command, name string) string {
	args := c.plain()[1:]
	var targets []string
	switch name {
	case "cp", "mv", "install", "ln", "rsync", "scp":
		targets = p.targets(c, name, args)
	case "tee", "sponge":
		if !has(args, 'a', "--append") {
			targets = operands(args)
		}
	case "uniq":
		if named := operands(args); len(named) > 1 {
			targets = named[1:2]
		}
	case "sort", "base64", "curl", "wget", "tree", "shuf", "git", "xxd", "yq", "dot", "pandoc", "openssl", "gpg", "age", "zstd", "xz", "gzip", "jar", "split", "csplit":
		targets = outputs(args)
	}
	for _, target := range targets {
		full := p.located(c.dir, target)
		if there, folder := p.there(full); there && !folder {
			return name + " overwrites " + p.short(full) + ", which exists"
		}
	}
	return ""
}

// targets returns the files that a command which copies, moves or links may overwrite.
func (p Policy) targets(c command, name string, args []string) []string {
	if has(args, 'n', "--no-clobber", "--ignore-existing") || name == "install" && has(args, 'd', "--directory") ||
		name == "ln" && !has(args, 'f', "--force") {
		return nil
	}
	named := operands(args)
	into := ""
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "--target-directory="):
			into = a[len("--target-directory="):]
		case a == "-t" && i+1 < len(args):
			into = args[i+1]
			named = slices.DeleteFunc(named, func(n string) bool { return n == into })
		}
	}
	if into == "" {
		if len(named) < 2 {
			return nil
		}
		into, named = named[len(named)-1], named[:len(named)-1]
		if _, folder := p.there(p.located(c.dir, into)); !folder {
			return []string{into}
		}
	}
	var targets []string
	for _, source := range named {
		paths := []string{source}
		if i := slices.IndexFunc(c.words, func(w word) bool { return w.text == source }); i >= 0 && c.words[i].kind == globWord {
			paths, _ = p.leads(c.dir, c.words[i])
		}
		for _, each := range paths {
			target := strings.TrimSuffix(into, "/") + "/" + filepath.Base(each)
			if strings.HasSuffix(each, "/") && name == "rsync" || strings.HasSuffix(each, "/.") {
				target = into
			}
			if _, folder := p.there(p.located(c.dir, target)); folder {
				target = p.anyFile(c.dir, target)
			}
			targets = append(targets, target)
		}
	}
	return targets
}

// anyFile returns a file in a folder that a copy goes into, or the folder itself if it is
// empty. It does not determine which file the copy overwrites.
func (p Policy) anyFile(dir, folder string) string {
	full := p.located(dir, folder)
	if p.List == nil {
		return folder
	}
	names, _ := p.List(full)
	for _, name := range names {
		if there, isFolder := p.there(filepath.Join(full, name)); there && !isFolder {
			return filepath.Join(full, name)
		}
	}
	return folder
}

// outputs returns the output files that options name.
func outputs(args []string) []string {
	var files []string
	for i, a := range args {
		switch {
		case i+1 < len(args) && slices.Contains([]string{"-o", "-O", "--output", "--output-document", "-out"}, a):
			files = append(files, args[i+1])
		case strings.HasPrefix(a, "--output=") || strings.HasPrefix(a, "--output-document="):
			files = append(files, a[strings.Index(a, "=")+1:])
		case !strings.HasPrefix(a, "--") && (strings.HasPrefix(a, "-o") || strings.HasPrefix(a, "-O")):
			files = append(files, a[2:])
		}
	}
	return files
}

// elsewhere maps commands that destroy things outside the project to the words that do
// so. One such word is enough.
var elsewhere = map[string][]string{
	"docker":    {"prune", "rm", "rmi", "kill", "down", "delete", "remove"},
	"podman":    {"prune", "rm", "rmi", "kill", "down", "delete", "remove", "reset"},
	"kubectl":   {"delete", "drain", "replace", "cordon", "--prune"},
	"helm":      {"uninstall", "delete", "rollback"},
	"terraform": {"destroy", "apply", "taint", "force-unlock", "rm"},
	"tofu":      {"destroy", "apply", "taint", "force-unlock", "rm"},
	"pulumi":    {"destroy", "up", "cancel"},
	"gh":        {"delete", "archive", "close", "merge", "rename", "transfer", "remove"},
	"glab":      {"delete", "archive", "close", "merge"},
	"npm":       {"publish", "unpublish", "deprecate", "owner", "access"},
	"pnpm":      {"publish", "unpublish"},
	"yarn":      {"publish"},
	"cargo":     {"publish", "yank", "owner"},
	"gem":       {"push", "yank"},
	"twine":     {"upload"},
	"poetry":    {"publish"},
	"redis-cli": {"flushall", "flushdb", "del", "FLUSHALL", "FLUSHDB", "DEL", "shutdown", "SHUTDOWN"},
	"hg":        {"revert", "purge", "strip", "rollback", "--clean", "-C"},
	"svn":       {"revert", "cleanup", "delete"},
	"jj":        {"abandon", "restore", "undo"},
	"apt":       {"remove", "purge", "autoremove"},
	"apt-get":   {"remove", "purge", "autoremove"},
	"brew":      {"uninstall", "remove", "cleanup"},
	"pip":       {"uninstall"},
	"systemctl": {"stop", "disable", "mask", "restart", "enable", "start", "daemon-reload", "edit"},
	"launchctl": {"load", "unload", "remove", "bootout", "bootstrap", "submit"},
}

var (
	always    = []string{"dropdb", "dropuser", "mysqladmin", "crontab", "at", "batch", "systemd-run", "pkill", "killall", "userdel", "deluser", "visudo", "passwd", "chpasswd", "swapoff", "sysctl", "insmod", "modprobe", "rmmod", "iptables", "nft", "ufw"}
	clouds    = []string{"aws", "gcloud", "az", "gsutil", "s3cmd", "rclone", "doctl", "heroku", "flyctl", "fly", "vercel", "netlify", "wrangler"}
	cloudWord = regexp.MustCompile(`(?i)^(rm|rb|del|mv|sync|purge)$|delete|destroy|terminate|remove|purge|deregister|revoke`)
	databases = []string{"psql", "mysql", "mariadb", "sqlite3", "duckdb", "mongosh", "mongo", "clickhouse-client", "cqlsh"}
	sqlLoses  = regexp.MustCompile(`(?i)\b(drop|truncate|delete\s+from|update|alter|dropDatabase|deleteMany|remove)\b|(^|\n)\s*(\.(shell|system|output|once|import|load|save|restore|open|read|excel|backup|dump)\b|\\[!owgi])`)
)

// destroysElsewhere covers machines, registries and databases that a command connects to.
func destroysElsewhere(name string, args []string) string {
	words := elsewhere[name]
	switch {
	case slices.Contains(always, name):
		return name + " changes what is installed or running on the machine"
	case slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, a) }):
		return name + " destroys or publishes something outside the project"
	case slices.Contains(clouds, name) && slices.ContainsFunc(args, cloudWord.MatchString):
		return name + " destroys something outside the project"
	case slices.Contains(databases, name) && slices.ContainsFunc(args, sqlLoses.MatchString):
		return name + " changes a database, or runs a command of its shell"
	}
	return ""
}
