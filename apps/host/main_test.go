package host_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	point := os.Getenv(childEnv)
	if point == "" {
		leakcheck.Main(m)
		return
	}
	if err := killedHost(point, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
