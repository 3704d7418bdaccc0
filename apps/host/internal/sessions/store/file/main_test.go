package file_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/scorel/scorel/packages/leakcheck"
)

// childEnv names what a copy of this test program does instead of the tests.
const childEnv = "SCOREL_TEST_CHILD"

// children are what such a copy can do.
func children() map[string]func(args []string) error {
	all := systemChildren()
	all["crash"], all["hold"] = crashChild, holdChild
	return all
}

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		leakcheck.Main(m)
		return
	}
	child, ok := children()[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such child:", name)
		os.Exit(2)
	}
	if err := child(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
