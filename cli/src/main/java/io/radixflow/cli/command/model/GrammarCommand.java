package io.radixflow.cli.command.model;

import picocli.CommandLine.Command;

/** The group of commands about grammars that replies follow. */
@Command(
    name = "grammar",
    description = "Show what a JSON Schema, a regular expression or a grammar allows.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {GrammarCheckCommand.class, GrammarMaskCommand.class})
public final class GrammarCommand {}
