// Command testdb-container runs a database in a container for package testdb. Its
// argument is postgres or mariadb. It prints the server's URL and stops the
// container when standard input closes. Standard input accepts the lines "stop",
// answered with a line, and "start", answered with the URL, because the port may
// have changed.
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
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/scorel/scorel/packages/testdb"
)

// Images of the databases that the tests run on.
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

// database is a container and the address of its server.
type database struct {
	testcontainers.Container
	url func(context.Context) (string, error)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	start := map[string]func(context.Context) (database, error){"postgres": startPostgres, "mariadb": startMariaDB}
	if len(args) != 1 || start[args[0]] == nil {
		return errors.New("give one argument: postgres or mariadb")
	}
	ctx, commands := read(ctx, stdin)
	server, err := start[args[0]](ctx)
	if err == nil {
		err = tellURL(ctx, server, stdout)
	}
	if err == nil {
		err = obey(ctx, server, commands, stdout) // until the tests are over
	}
	return errors.Join(err, testcontainers.TerminateContainer(server.Container))
}

// read returns the lines of stdin, and a context that ends with it: a test that is
// interrupted while its container starts leaves none behind.
func read(ctx context.Context, stdin io.Reader) (context.Context, <-chan string) {
	ctx, cancel := context.WithCancel(ctx)
	commands := make(chan string)
	go func() { // ends with the process, if not before
		defer cancel()
		defer close(commands)
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			commands <- lines.Text()
		}
	}()
	return ctx, commands
}

func startPostgres(ctx context.Context) (database, error) {
	server, err := postgres.Run(ctx, postgresImage,
		// The image starts a first server to prepare itself, hence two lines. The module's
		// BasicWaitStrategies also runs awk, grep and nc in the container, and times out
		// with an image that lacks them.
		testcontainers.WithWaitStrategyAndDeadline(2*time.Minute,
			wait.ForLog("database system is ready to accept connections").WithOccurrence(2).WithStartupTimeout(2*time.Minute)),
		postgres.WithPassword(testdb.Secret), // recognizable if it leaks, unlike a word that occurs in every error
		testcontainers.WithCmd("postgres", "-c", "fsync=off", "-c", "max_connections=200"))
	return database{server, func(ctx context.Context) (string, error) { return server.ConnectionString(ctx, "sslmode=disable") }}, err
}

func startMariaDB(ctx context.Context) (database, error) {
	server, err := testcontainers.Run(ctx, mariaImage,
		testcontainers.WithEnv(map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1", "MARIADB_ROOT_HOST": "%"}),
		testcontainers.WithCmd("--innodb-flush-log-at-trx-commit=0", "--max-connections=400"),
		testcontainers.WithExposedPorts("3306/tcp"),
		// The image starts a first server without a port, to prepare itself.
		testcontainers.WithWaitStrategy(wait.ForLog("port: 3306").WithStartupTimeout(2*time.Minute)))
	return database{server, func(ctx context.Context) (string, error) {
		address, err := server.PortEndpoint(ctx, "3306/tcp", "")
		return "mysql://root@" + address + "/mysql", err
	}}, err
}

func tellURL(ctx context.Context, server database, stdout io.Writer) error {
	url, err := server.url(ctx)
	if err == nil {
		_, err = fmt.Fprintln(stdout, url)
	}
	return err
}

func obey(ctx context.Context, server database, commands <-chan string, stdout io.Writer) error {
	running := true
	for command := range commands {
		var err error
		switch command {
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
