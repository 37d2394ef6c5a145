package io.radixflow.cli;

import io.radixflow.cli.command.topic.CacheContentCommand;
import picocli.CommandLine.Command;

/** The group of commands about the prefix cache; the lab adds more. */
@Command(
    name = "cache",
    description =
        "Study the prefix cache without a model, or look into the caches of a running job.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {CacheContentCommand.class})
final class CacheCommand {}
