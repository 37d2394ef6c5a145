package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.gateway.auth.ApiKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Creates an API key of the HTTP gateway. */
@Command(
    name = "gateway-key",
    description = {
      "Make an API key for the HTTP gateway: prints it once, and adds a line with its hash to a"
          + " file.",
      "Gateways whose option gateway.api-keys names the file take the key within seconds."
    })
public final class GatewayKeyCommand extends CliCommand {
  @Option(
      names = "--file",
      paramLabel = "FILE",
      required = true,
      description = "File of keys to which a line is added; it is created if it does not exist.")
  Path file;

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      description =
          "Tenant that owns the conversations held with the key; empty for the default tenant.")
  String tenant = "";

  @Option(
      names = "--model",
      paramLabel = "NAME",
      showDefaultValue = Visibility.NEVER,
      description = "A model that the key may use; may be given several times (default: all).")
  List<String> models = List.of();

  @Option(
      names = "--requests-per-minute",
      paramLabel = "N",
      description = "Requests per minute on each gateway; 0 for no limit.")
  int requestsPerMinute;

  @Option(
      names = "--concurrent-requests",
      paramLabel = "N",
      description = "Requests in progress on each gateway; 0 for no limit.")
  int concurrentRequests;

  @Option(
      names = "--operator",
      description =
          "The key's user may open the live page, which shows the activity of all "
              + "tenants without texts.")
  boolean operator;

  GatewayKeyCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    CliException.throwIf(
        requestsPerMinute < 0 || concurrentRequests < 0, "limits must be 0 or more");
    ApiKey.Made made = ApiKey.make(tenant, models, requestsPerMinute, concurrentRequests, operator);
    if (!Files.exists(file)) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    byte[] line = (made.line().toJson() + "\n").getBytes(StandardCharsets.UTF_8);
    Files.write(file, line, StandardOpenOption.APPEND);
    out().println(made.text());
    return 0;
  }
}
