package io.radixflow.jobs.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.jobs.config.RadixflowOptions.KvType;
import io.radixflow.protocol.record.Overflow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsLoaderTest {

  @TempDir Path dir;

  @Test
  void defaultsAreValid() {
    Settings settings = SettingsLoader.defaults();
    assertThat(settings.get(SharedConfig.MODEL)).isEqualTo("SmolLM2-135M-Instruct");
    assertThat(settings.get(RadixflowOptions.RETENTION)).isEqualTo(Duration.ofDays(7));
  }

  @Test
  void setBeatsTheEnvironmentAndTheEnvironmentTheFile() throws IOException {
    Path file =
        yaml(
            """
            model: sim
            model.threads: 3
            kafka:
              group-id: from-file
              topic.events: in
              client:
                security.protocol: SSL
            session.overflow: reject
            model.kv-type: f16
            session.retention: 2 h
            flink.state.backend.type: hashmap
            """);
    Settings settings =
        new SettingsLoader()
            .file(file)
            .environment(
                Map.of("RADIXFLOW_KAFKA_GROUP_ID", "from-environment", "RADIXFLOW_MODEL", "b"))
            .set(List.of("model=c=d"))
            .load();
    assertThat(settings.get(SharedConfig.MODEL)).isEqualTo("c=d");
    assertThat(settings.get(KafkaConfig.GROUP_ID)).isEqualTo("from-environment");
    assertThat(settings.get(KafkaConfig.EVENTS_TOPIC)).isEqualTo("in");
    assertThat(settings.get(RadixflowOptions.THREADS)).isEqualTo(3);
    assertThat(settings.get(SharedConfig.OVERFLOW)).isEqualTo(Overflow.REJECT);
    assertThat(settings.get(RadixflowOptions.KV_TYPE)).isEqualTo(KvType.F16);
    assertThat(settings.get(RadixflowOptions.RETENTION)).isEqualTo(Duration.ofHours(2));
    assertThat(settings.flink().toMap()).containsEntry("state.backend.type", "hashmap");
    assertThat(settings.kafkaClient())
        .containsEntry("security.protocol", "SSL")
        .containsEntry("bootstrap.servers", "localhost:9092");
  }

  @Test
  void argumentsCarrySettingsToAnotherProcess() {
    Settings settings =
        new SettingsLoader()
            .set(List.of("model=sim", "flink.a.b=1", "session.retention=3d"))
            .load();
    List<String> assignments =
        settings.toArguments().stream().filter(word -> !word.equals("--set")).toList();
    Settings again = new SettingsLoader().set(assignments).load();
    assertThat(again.toArguments()).isEqualTo(settings.toArguments());
    assertThat(again.get(RadixflowOptions.RETENTION)).isEqualTo(Duration.ofDays(3));
  }

  @Test
  void aFileForItsOwnerAloneCarriesSettingsToAnotherProcess() throws IOException {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model=c: '#d'",
                    "job.name=true",
                    "kafka.client.sasl.jaas.config=Module required password=\"a b\\\"c\";",
                    "session.retention=3d"))
            .load();
    Path file = settings.write(dir);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(new SettingsLoader().file(file).load().toArguments())
        .isEqualTo(settings.toArguments());
    assertThat(new SettingsLoader().file(SettingsLoader.defaults().write(dir)).load().toArguments())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "modle=x                      | --set: the option modle is unknown. Did you mean model?",
        "kafka.topic.event=x          | Did you mean kafka.topic.events?",
        "quite-another-thing=1        | --set: the option quite-another-thing is unknown.",
        "model.threads=many           | model.threads is 'many'; it must be an integer, 0 to 1024",
        "model.threads=-1             | model.threads is '-1'; it must be an integer, 0 to 1024",
        "model.device=tpu             | model.device is 'tpu'; it must be one of auto, cpu, sim",
        "cache.kind=tree              | cache.kind is 'tree'; it must be one of radix, chunk,"
            + " naive",
        "cache.eviction-policy=best   | cache.eviction-policy is 'best'; it must be one of lru,"
            + " lfu, fifo",
        "scheduler.policy=priority    | must be one of fcfs, lpm, dfs-weight, lof, random,"
            + " routing-key",
        "scheduler.ageing=1           | scheduler.ageing is '1'; it must be an integer, 2 to"
            + " 1000000",
        "scheduler.tenant-weights=a:0 | must be tenants and weights from 1 to 1000, such as"
            + " a:3,b:2",
        "engine.kv-memory=big         | engine.kv-memory is 'big'; it must be a memory size",
        "session.retention=soon       | session.retention is 'soon'; it must be a duration",
        "generation.temperature=NaN   | generation.temperature is 'NaN'; it must be a number, 0.0"
            + " to 2.0",
        "model=                       | model is ''; it must be a text that is not empty",
        "engine.max-running=512       | engine.max-running must be at most engine.step-rows",
        "job.checkpoint-interval=9ms  | is '9ms'; it must be a duration of at least 10 ms",
        "kv-events.retention=29s   | is '29s'; it must be a duration of at least 30 s",
        "tiers.disk-retention=0s      | is '0s'; it must be a duration of at least 1 ms",
        "tiers.disk-size=1gb          | tiers.disk-size needs tiers.host-memory",
        "job.checkpoint-interval=15m  | is 900000 ms, with 60000 ms for the checkpoint and its"
            + " commit",
        "flink.execution.checkpointing.interval=20m | kafka.transaction-timeout, 900000 ms",
        "flink.execution.checkpointing.unaligned.enabled=true | may double replies",
        "kafka.transaction-timeout=1m | lower the one or raise the other",
        "model                        | --set model must have the form key=value",
      })
  void refusesWhatIsUnknownOrWrong(String assignment, String message) {
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(() -> new SettingsLoader().set(List.of(assignment)).load())
        .withMessageContaining(message);
  }

  @Test
  void refusesMisspeltVariablesAndToleratesForeignOnes() {
    SettingsLoader loader = new SettingsLoader();
    loader.environment(
        Map.of(
            "RADIXFLOW_HOME", "/x",
            "RADIXFLOW_JAVA_OPTS", "-Xmx1g",
            "RADIXFLOW_PORT_9092_TCP", "tcp://10.0.0.1:9092",
            "RADIXFLOW_SERVICE_HOST", "10.0.0.1",
            "RADIXFLOW_TEST_MODEL", "/m",
            "RADIXFLOW_REQUIRE_MODEL", "true",
            "PATH", "/bin"));
    assertThat(loader.load().toArguments()).isEmpty();
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(() -> loader.environment(Map.of("RADIXFLOW_KAFKA_GROUPID", "x")))
        .withMessageContaining("Did you mean RADIXFLOW_KAFKA_GROUP_ID?");
  }

  @Test
  void refusesFilesThatAreMissingBrokenOrAmbiguous() throws IOException {
    refuses(dir.resolve("absent.yaml"), "cannot read the options file");
    refuses(dir, "cannot read the options file " + dir + ": it is a directory, not a file");
    refuses(Path.of("/dev/zero"), "/dev/zero: it is a pipe, a device or a socket, not a file");
    refuses(yaml("a: [1"), "is not valid YAML");
    refuses(yaml("- model"), "is not a YAML map of options");
    refuses(yaml("model: a\nmodel: b"), "is not valid YAML");
    refuses(yaml("kafka:\n  topics: x"), "the option kafka.topics is unknown.");
    assertThat(new SettingsLoader().file(yaml("# nothing\n")).load().toArguments()).isEmpty();
  }

  @Test
  void theTableNamesEveryOptionOnce() {
    String table = OptionsTable.markdown();
    for (OptionSpec<?> spec : RadixflowOptions.specs()) {
      assertThat(table).containsOnlyOnce("| `" + spec.key() + "` |");
      assertThat(spec.description()).endsWith(".").doesNotContain("|", "<");
    }
  }

  private void refuses(Path file, String message) {
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(() -> new SettingsLoader().file(file).load())
        .withMessageContaining(message);
  }

  private Path yaml(String text) throws IOException {
    return Files.writeString(dir.resolve("options.yaml"), text);
  }

  @Test
  void theDiskTierFollowsTheSettings() throws Exception {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "cache.namespace-key=secret",
                    "tiers.host-memory=1gb",
                    "tiers.disk-size=20gb",
                    "tiers.disk-directory=/disk",
                    "tiers.disk-min-free=2gb",
                    "tiers.disk-retention=12h"))
            .load();
    assertThat(DiskTierConfig.tier(settings))
        .isEqualTo(
            new DiskTierOptions(
                20L << 30,
                "/disk",
                2L << 30,
                Duration.ofHours(12).toMillis(),
                CacheConfig.namespaces(settings).key()));
    assertThat(DiskTierConfig.tier(new SettingsLoader().load()).retentionMillis())
        .isEqualTo(Duration.ofDays(7).toMillis());
  }
}
