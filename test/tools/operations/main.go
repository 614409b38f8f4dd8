// Judges a file of operations/ on standard input as those who take it do: `compose` reads a compose file as Docker Compose
// does, `kubernetes` reads objects as a cluster does that refuses what it does not know. Prints what is wrong, and exits with 1.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	judges := map[string]func(io.Reader) error{"compose": compose, "kubernetes": kubernetes}
	err := errors.New("usage: compose | kubernetes")
	if judge := judges[strings.Join(os.Args[1:], " ")]; judge != nil {
		err = judge(os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compose(file io.Reader) error {
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	project := types.ConfigDetails{
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: content}},
		Environment: types.NewMapping(os.Environ()),
	}
	_, err = loader.LoadWithContext(context.Background(), project)
	return err
}

func kubernetes(documents io.Reader) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	reader := yaml.NewYAMLReader(bufio.NewReader(documents))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, kind, err := decoder.Decode(document, nil, nil); err != nil {
			return fmt.Errorf("%v: %w", kind, err)
		}
	}
}
