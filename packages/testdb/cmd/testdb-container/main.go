// Command testdb-container runs a database in a container for package testdb. It
// prints the server's URL and ends the container when standard input closes. Its
// argument is postgres or mariadb.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Images are what the tests run on.
const (
	postgresImage = "postgres:17-alpine"
	mariaImage    = "mariadb:11.8"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testdb-container:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	start := map[string]func(context.Context) (testcontainers.Container, string, error){
		"postgres": startPostgres, "mariadb": startMariaDB,
	}
	if len(args) != 1 || start[args[0]] == nil {
		return errors.New("give one argument: postgres or mariadb")
	}
	server, url, err := start[args[0]](ctx)
	if err == nil {
		if _, err = fmt.Fprintln(stdout, url); err == nil {
			_, err = io.Copy(io.Discard, stdin) // until the tests are over
		}
	}
	return errors.Join(err, testcontainers.TerminateContainer(server))
}

func startPostgres(ctx context.Context) (testcontainers.Container, string, error) {
	server, err := postgres.Run(ctx, postgresImage, postgres.BasicWaitStrategies(),
		testcontainers.WithCmd("postgres", "-c", "fsync=off", "-c", "max_connections=200"))
	if err != nil {
		return server, "", err
	}
	url, err := server.ConnectionString(ctx, "sslmode=disable")
	return server, url, err
}

func startMariaDB(ctx context.Context) (testcontainers.Container, string, error) {
	server, err := testcontainers.Run(ctx, mariaImage,
		testcontainers.WithEnv(map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1", "MARIADB_ROOT_HOST": "%"}),
		testcontainers.WithCmd("--innodb-flush-log-at-trx-commit=0", "--max-connections=400"),
		testcontainers.WithExposedPorts("3306/tcp"),
		// The image starts a first server without a port, to prepare itself.
		testcontainers.WithWaitStrategy(wait.ForLog("port: 3306").WithStartupTimeout(2*time.Minute)))
	if err != nil {
		return server, "", err
	}
	address, err := server.PortEndpoint(ctx, "3306/tcp", "")
	return server, "mysql://root@" + address + "/mysql", err
}
