// Command testdb-container runs PostgreSQL in a container for package testdb. It
// prints the server's URL and ends the container when standard input closes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
)

// image is what the tests run on.
const image = "postgres:17-alpine"

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testdb-container:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	server, err := postgres.Run(ctx, image, postgres.BasicWaitStrategies(),
		testcontainers.WithCmd("postgres", "-c", "fsync=off", "-c", "max_connections=200"))
	if err != nil {
		return errors.Join(err, testcontainers.TerminateContainer(server))
	}
	url, err := server.ConnectionString(ctx, "sslmode=disable")
	if err == nil {
		if _, err = fmt.Fprintln(stdout, url); err == nil {
			_, err = io.Copy(io.Discard, stdin) // until the tests are over
		}
	}
	return errors.Join(err, testcontainers.TerminateContainer(server))
}
