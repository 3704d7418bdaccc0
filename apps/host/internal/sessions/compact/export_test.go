package compact

import "github.com/scorel/scorel/packages/protocol/session"

// TokensFromScratch is Tokens of the whole context, whatever its end is.
func TokensFromScratch(tree *session.Tree) int { return tokensOf(tree, read(tree.LeafContext())) }
