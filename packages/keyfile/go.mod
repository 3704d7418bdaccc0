module github.com/scorel/scorel/packages/keyfile

go 1.26.0

require (
	github.com/scorel/scorel/packages/atomicfile v0.0.0
	github.com/scorel/scorel/packages/protocol v0.0.0
)

replace (
	github.com/scorel/scorel/packages/atomicfile => ../atomicfile
	github.com/scorel/scorel/packages/protocol => ../protocol
)
