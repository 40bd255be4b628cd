package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseFile reads a YAML file of settings: one mapping whose keys are the
// names of the flags. Its error has every wrong key, each with its line.
func parseFile(file string, data []byte) (map[string]given, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil // empty, or comments only
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: one YAML document expected, there is more", file)
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: want lines like \"id: 3\"", file, root.Line)
	}
	found := make(map[string]given)
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		at := fmt.Sprintf("%s:%d", file, key.Line)
		values, err := fileValues(key.Value, value)
		if _, twice := found[key.Value]; twice {
			err = errors.New("the key stands there twice")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", at, key.Value, err))
			continue
		}
		found[key.Value] = given{values, origin{"file", at}}
	}
	return found, errors.Join(errs...)
}

// fileValues returns the values of a key in a YAML file.
func fileValues(key string, value *yaml.Node) ([]string, error) {
	s, known := named(key)
	if !known {
		return nil, fmt.Errorf("unknown key%s", didYouMean(key, names()))
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
		return s.split(value.Value), nil
	case value.Kind == yaml.SequenceNode && s.isList():
		values := make([]string, 0, len(value.Content))
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("want a list of words")
			}
			values = append(values, item.Value)
		}
		return values, nil
	case s.isList():
		return nil, errors.New("want a word or a list of words")
	}
	return nil, errors.New("want one value")
}

// split returns the values in text: several, separated by commas, if the setting is a list.
func (s setting) split(text string) []string {
	if !s.isList() {
		return []string{text}
	}
	var values []string
	for _, v := range strings.Split(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	return values
}
