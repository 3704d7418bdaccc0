module github.com/scorel/scorel/packages/client

go 1.26

require (
	github.com/coder/websocket v1.8.15
	github.com/scorel/scorel/packages/leakcheck v0.0.0
	github.com/scorel/scorel/packages/protocol v0.0.0
)

replace (
	github.com/scorel/scorel/packages/leakcheck => ../leakcheck
	github.com/scorel/scorel/packages/protocol => ../protocol
)
