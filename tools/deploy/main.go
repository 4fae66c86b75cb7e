// Command deploy reads what the folder deploy holds as those will who run it: the container
// file as BuildKit's parser and its rules do, the compose file as Compose does, the manifests
// of Kubernetes by its own types, where an unknown field is a fault; and it holds what they
// say of each other together. It needs no daemon, no cluster and no network. It is a module of
// its own, so that none of this is the product's.
//
//	go run . ../../deploy
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: deploy FOLDER")
		os.Exit(2)
	}
	dir := os.Args[1]
	err := errors.Join(
		readContainer(filepath.Join(dir, "Dockerfile")),
		readServices(filepath.Join(dir, "compose", "compose.yaml")),
		readManifests(filepath.Join(dir, "kubernetes", "scrollback.yaml"),
			filepath.Join(dir, "kubernetes", "first-key.yaml")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("the container file, the compose file and the manifests are as they should be")
}

// findFault is one thing that is wrong with a file.
func findFault(name, format string, args ...any) error {
	return fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...))
}

// readContainer reads a container file.
func readContainer(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	tree, err := parser.Parse(f)
	if err != nil {
		return findFault(name, "%v", err)
	}
	var all error
	for _, w := range tree.Warnings {
		all = errors.Join(all, findFault(name, "%s", w.Short))
	}
	stages, _, err := instructions.Parse(tree.AST,
		linter.New(&linter.Config{Warn: func(rule, about, _, said string, at []parser.Range) {
			all = errors.Join(all, findFault(name, "%s: %s: %s %v", rule, about, said, at))
		}}))
	if err != nil {
		return errors.Join(all, findFault(name, "%v", err))
	}
	last := stages[len(stages)-1]
	var user, health bool
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User == "65532:65532"
		case *instructions.HealthCheckCommand:
			health = len(c.Health.Test) == 3 && c.Health.Test[0] == "CMD" && c.Health.Test[2] == "health"
		case *instructions.RunCommand:
			all = errors.Join(all, findFault(name, "the last stage has no shell to run %s", c.String()))
		}
	}
	if !user || !health {
		all = errors.Join(all, findFault(name, "the program is to run as 65532 (%v) and to be asked by its own command (%v)",
			user, health))
	}
	return all
}

// readServices reads a compose file, with files for its secrets that need not be there.
func readServices(name string) error {
	options, err := cli.NewProjectOptions([]string{name}, cli.WithInterpolation(true), cli.WithConsistency(true),
		cli.WithNormalization(true))
	if err != nil {
		return findFault(name, "%v", err)
	}
	p, err := options.LoadProject(context.Background())
	if err != nil {
		return findFault(name, "%v", err)
	}
	var all error
	for _, s := range p.Services {
		all = errors.Join(all, findUnhardened(name, s))
		for _, c := range s.Configs {
			if _, err := os.Stat(p.Configs[c.Source].File); err != nil {
				all = errors.Join(all, findFault(name, "%s: %v", s.Name, err))
			}
		}
	}
	return errors.Join(all, missingSecrets(name, p), findAddressed(name, p))
}

// findAddressed returns which service has an address that another one may be given first.
func findAddressed(name string, p *types.Project) error {
	var all error
	for _, s := range p.Services {
		for network, at := range s.Networks {
			if at == nil || at.Ipv4Address == "" {
				continue
			}
			ranged := func(pool *types.IPAMPool) bool { return pool.IPRange != "" }
			if !slices.ContainsFunc(p.Networks[network].Ipam.Config, ranged) {
				all = errors.Join(all, findFault(name, "%s: %s is not kept from the others of %s: ip_range is missing", s.Name,
					at.Ipv4Address, network))
			}
		}
	}
	return all
}

// findUnhardened returns what a service may do that it need not.
func findUnhardened(name string, s types.ServiceConfig) error {
	var all error
	if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
		all = errors.Join(all, findFault(name, "%s may write its root, has capabilities or may gain some", s.Name))
	}
	if s.Privileged || s.NetworkMode == "host" {
		all = errors.Join(all, findFault(name, "%s is privileged, or in the host's network", s.Name))
	}
	for _, v := range s.Volumes {
		if strings.Contains(v.Source, "docker.sock") {
			all = errors.Join(all, findFault(name, "%s is given the daemon", s.Name))
		}
	}
	for key, value := range s.Environment {
		lower := strings.ToLower(key)
		if value != nil && *value != "" && (strings.Contains(lower, "password") || strings.Contains(lower, "secret_")) &&
			!strings.HasSuffix(lower, "_file") {
			all = errors.Join(all, findFault(name, "%s: %s is a secret in the environment", s.Name, key))
		}
	}
	// Those of ours are asked by the container file's own command.
	if ours := s.Build != nil; !ours && (s.HealthCheck == nil || len(s.HealthCheck.Test) == 0) {
		all = errors.Join(all, findFault(name, "%s is not asked how it is", s.Name))
	}
	if s.StopGracePeriod == nil && s.Build != nil {
		all = errors.Join(all, findFault(name, "%s has no time to end", s.Name))
	}
	return all
}

// missingSecrets returns which secrets the script beside a compose file does not make.
func missingSecrets(name string, p *types.Project) error {
	script, err := os.ReadFile(filepath.Join(filepath.Dir(name), "secrets"))
	if err != nil {
		return err
	}
	var all error
	for _, s := range p.Secrets {
		if !strings.Contains(string(script), ">"+filepath.Base(s.File)+"\n") {
			all = errors.Join(all, findFault(name, "nothing makes the secret %s", s.File))
		}
	}
	return all
}
