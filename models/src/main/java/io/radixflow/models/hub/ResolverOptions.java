package io.radixflow.models.hub;

import io.radixflow.models.RadixflowHome;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * How a {@link ModelResolver} works.
 *
 * @param home Radixflow's home; models are stored in its directory {@code models/}
 * @param hub base address of the hub
 * @param offline whether to never use the network
 * @param pip the command that runs pip, without pip's arguments
 */
public record ResolverOptions(Path home, URI hub, boolean offline, List<String> pip) {
  private static final URI HUB = URI.create("https://huggingface.co");

  public ResolverOptions {
    pip = List.copyOf(pip);
  }

  /**
   * Reads the options from {@code RADIXFLOW_HOME}, {@code RADIXFLOW_OFFLINE} ({@code 1} or {@code
   * true}) and {@code HF_ENDPOINT}.
   *
   * @param offline true to be offline, whatever the environment says
   * @throws ModelUnavailableException if {@code HF_ENDPOINT} is not an HTTP address
   */
  public static ResolverOptions fromEnvironment(boolean offline) throws ModelUnavailableException {
    String variable = System.getenv("RADIXFLOW_OFFLINE");
    boolean asked = "1".equals(variable) || "true".equalsIgnoreCase(variable);
    return new ResolverOptions(
        RadixflowHome.path(), endpoint(), offline || asked, List.of("python3", "-m", "pip"));
  }

  private static URI endpoint() throws ModelUnavailableException {
    String endpoint = System.getenv("HF_ENDPOINT");
    if (endpoint == null || endpoint.isBlank()) {
      return HUB;
    }
    if (!endpoint.matches("https?://[A-Za-z0-9.:\\[\\]-]+/?")) {
      throw new ModelUnavailableException("HF_ENDPOINT is not an HTTP address: " + endpoint);
    }
    return URI.create(endpoint.replaceAll("/$", ""));
  }

  /** The directory of models. */
  Path models() {
    return home.resolve("models");
  }
}
