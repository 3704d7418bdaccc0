package compact

import "github.com/scorel/scorel/packages/protocol/session"

// TokensAnew is Tokens of the whole context, whatever its end is.
func TokensAnew(tree *session.Tree) int { return tokensOf(tree, read(tree.LeafContext())) }
