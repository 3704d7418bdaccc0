// Command makerelease makes a release of the checkout in the current folder, and then builds
// its first platform a second time, from a copy at another place with an empty cache. It fails
// if the two differ. `make release` runs it; docs/releasing.md describes the rest.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/scorel/scorel/packages/release"
	"github.com/scorel/scorel/packages/release/build"
)

// Variables with the signing key: a file of minisign, or its text; and its password.
const (
	keyFileVariable  = "SCOREL_RELEASE_KEY_FILE"
	keyVariable      = "SCOREL_RELEASE_KEY"
	passwordVariable = "SCOREL_RELEASE_PASSWORD"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "makerelease:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	o := build.Options{Root: ".", Log: os.Stdout}
	flag.StringVar(&o.Out, "out", "bin/release", "folder to write to")
	flag.StringVar(&o.Version, "version", "", "version, such as v1.2.3 (default: the tag of the commit)")
	only := flag.String("only", "", "platforms, separated by commas, such as linux/amd64 (default: all)")
	flag.BoolVar(&o.Tools, "tools", true, "make deb and rpm packages and lists of components too")
	again := flag.Bool("again", true, "build the first platform twice and compare")
	dirty := flag.Bool("dirty", false, "allow changes that are not committed")
	newKey := flag.String("new-key", "", "write a new key to this file, and sign with it")
	trust := flag.String("trust", "", "public keys, separated by commas, that the program trusts (default: the one it is signed with)")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	var err error
	if *newKey != "" {
		o.Key, err = makeKey(*newKey)
	} else {
		o.Key, err = signingKey()
	}
	if err != nil {
		return err
	}
	if o.Platforms, err = platforms(*only); err != nil {
		return err
	}
	if o.Trust = []string{release.PublicKey(o.Key)}; *trust != "" {
		o.Trust = strings.Split(*trust, ",")
	}
	if err := describe(ctx, &o, *dirty); err != nil {
		return err
	}
	return buildAndCompare(ctx, o, *again)
}

func buildAndCompare(ctx context.Context, o build.Options, again bool) (err error) {
	if o.Root, err = os.Getwd(); err != nil {
		return fmt.Errorf("finding the checkout: %w", err)
	}
	if err := build.Run(ctx, o); err != nil {
		return err
	}
	if again {
		if err := build.Again(ctx, o); err != nil {
			return err
		}
	}
	fmt.Printf("scorel %s is in %s, signed with the key %s\n", o.Version, o.Out, release.PublicKey(o.Key))
	return nil
}

func signingKey() (release.Key, error) {
	password := os.Getenv(passwordVariable)
	if path := os.Getenv(keyFileVariable); path != "" {
		return release.LoadKey(path, password)
	}
	if text := os.Getenv(keyVariable); text != "" {
		return release.ParseKey([]byte(text), password)
	}
	return release.Key{}, fmt.Errorf("no signing key: set %s to a private key of minisign, or %s to its text", keyFileVariable, keyVariable)
}

// makeKey writes a new private key, which has no password.
func makeKey(path string) (release.Key, error) {
	_, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return release.Key{}, fmt.Errorf("making a key: %w", err)
	}
	text, err := key.MarshalText()
	if err != nil {
		return release.Key{}, fmt.Errorf("making a key: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // never over another key
	if err != nil {
		return release.Key{}, fmt.Errorf("writing the key: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return release.Key{}, fmt.Errorf("writing the key: %w", err)
	}
	return key, nil
}

func platforms(only string) ([]build.Platform, error) {
	if only == "" {
		return build.Platforms(), nil
	}
	var list []build.Platform
	for text := range strings.SplitSeq(only, ",") {
		system, arch, ok := strings.Cut(text, "/")
		if !ok {
			return nil, fmt.Errorf("%q is not a platform such as linux/amd64", text)
		}
		list = append(list, build.Platform{OS: system, Arch: arch})
	}
	return list, nil
}

// describe fills in what git knows about the commit.
func describe(ctx context.Context, o *build.Options, dirty bool) error {
	changed, err := git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" && !dirty {
		return errors.New("the checkout has changes that are not committed: a release of them could not be built again")
	}
	line, err := git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(line, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the time of the commit: %w", err)
	}
	o.Commit, o.Time = commit, time.Unix(at, 0)
	if o.Version == "" {
		if o.Version, err = git(ctx, "describe", "--tags", "--exact-match"); err != nil {
			return errors.New("this commit has no tag: set one such as v1.2.3, or give -version")
		}
	}
	return nil
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("running git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
