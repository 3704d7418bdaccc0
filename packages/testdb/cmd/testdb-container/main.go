// Command testdb-container runs PostgreSQL in a container for package testdb. It
// prints the server's URL and ends the container when standard input closes. On
// standard input it obeys the lines "stop", which it answers with a line, and
// "start", which it answers with the URL, for the port may be another.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

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
	err = tellURL(ctx, server, stdout)
	if err == nil {
		err = obey(ctx, server, stdin, stdout) // until the tests are over
	}
	return errors.Join(err, testcontainers.TerminateContainer(server))
}

func tellURL(ctx context.Context, server *postgres.PostgresContainer, stdout io.Writer) error {
	url, err := server.ConnectionString(ctx, "sslmode=disable")
	if err == nil {
		_, err = fmt.Fprintln(stdout, url)
	}
	return err
}

func obey(ctx context.Context, server *postgres.PostgresContainer, stdin io.Reader, stdout io.Writer) error {
	running := true
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		var err error
		switch lines.Text() {
		case "stop":
			now := time.Duration(0)
			err = server.Stop(ctx, &now)
			running = false
			fmt.Fprintln(stdout, "stopped")
		case "start":
			if !running {
				err = server.Start(ctx)
				running = true
			}
			err = errors.Join(err, tellURL(ctx, server, stdout))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
