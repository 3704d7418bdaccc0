// Command scorel lets you reach the coding agent on your machine from any browser
// or terminal. See scorel --help.
package main

import (
	"os"

	cli "github.com/scorel/scorel/apps/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
