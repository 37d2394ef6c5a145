package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.operators.flink.ServingOptions.Overflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/**
 * Every option of the job; those of the prefix cache are in {@link CacheConfig}, those of the tiers
 * below it in {@link TierConfig}, those of the scheduler in {@link SchedulerConfig}.
 */
public final class RadixflowOptions {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<String> MODEL =
      ALL.text(
          key("model").stringType().defaultValue("SmolLM2-135M-Instruct"),
          "A GGUF file, a Hugging Face directory, a hub name, or 'sim' for a simulated model.");

  public static final ConfigOption<String> DEVICE =
      ALL.add(
          key("model.device").stringType().defaultValue("auto"),
          "one of " + DeviceName.ALLOWED,
          DeviceName::isValid,
          "What computes; 'auto' takes the best there is.");

  public static final ConfigOption<Integer> THREADS =
      ALL.range(
          key("model.threads").intType().defaultValue(0),
          0,
          1024,
          "Compute threads of the CPU; 0 leaves one core of more than two to Flink.");

  public static final ConfigOption<KvType> KV_TYPE =
      ALL.choice(
          key("model.kv-type").enumType(KvType.class).defaultValue(KvType.AUTO),
          KvType.values(),
          "Element type of the KV pool: f32 or f16 on a CPU, bf16 on a GPU; f16 halves the memory"
              + " of f32 and rounds. 'auto' is f32 or bf16.");

  public static final ConfigOption<GpuMode> GPU_MODE =
      ALL.choice(
          key("gpu.mode").enumType(GpuMode.class).defaultValue(GpuMode.DETERMINISTIC),
          GpuMode.values(),
          "Whether a reply on a GPU is the same bits whatever else runs, or may differ and be"
              + " faster.");

  public static final ConfigOption<MemorySize> GPU_MEMORY =
      ALL.add(
          key("gpu.memory").memoryType().defaultValue(MemorySize.ZERO),
          "a memory size such as 20gb",
          size -> true,
          "GPU memory for weights, activations and KV pool together; 0 takes nine tenths of what is"
              + " free.");

  public static final ConfigOption<Integer> KV_PAGES =
      ALL.range(
          key("engine.kv-pages").intType().defaultValue(0),
          0,
          Integer.MAX_VALUE,
          "Pages of the KV pool; 0 sizes it by engine.kv-memory.");

  public static final ConfigOption<MemorySize> KV_MEMORY =
      ALL.add(
          key("engine.kv-memory").memoryType().defaultValue(MemorySize.ZERO),
          "a memory size such as 512mb",
          size -> true,
          "Memory of the KV pool. With 0 on a GPU: what gpu.memory leaves. With 0 on a CPU: four"
              + " context windows, at most four times the weights (but 256 MB or one window in any"
              + " case) and a quarter of the heap. The log says at start how large it is.");

  public static final ConfigOption<Integer> PAGE_TOKENS =
      ALL.range(
          key("engine.page-tokens").intType().defaultValue(16),
          1,
          1024,
          "Tokens a page; the nearest size that the device supports is taken.");

  public static final ConfigOption<Integer> CONTEXT_LENGTH =
      ALL.range(
          key("engine.context-length").intType().defaultValue(0),
          0,
          Integer.MAX_VALUE,
          "Most tokens of prompt and reply together; 0 for the model's.");

  public static final ConfigOption<Integer> STEP_ROWS =
      ALL.range(
          key("engine.step-rows").intType().defaultValue(256),
          1,
          65_536,
          "Token budget of an engine step, shared by decoding requests and prefill chunks.");

  public static final ConfigOption<Integer> PREFILL_CHUNK =
      ALL.range(
          key("engine.prefill-chunk").intType().defaultValue(256),
          1,
          65_536,
          "Most prompt tokens of one request in a step.");

  public static final ConfigOption<Integer> ENGINE_MAX_RUNNING =
      ALL.range(
          key("engine.max-running").intType().defaultValue(64),
          1,
          65_536,
          "Requests that generate at once; at most engine.step-rows.");

  public static final ConfigOption<Integer> ENGINE_MAX_WAITING =
      ALL.range(
          key("engine.max-waiting").intType().defaultValue(1024),
          1,
          1_000_000,
          "Requests that wait in the engine; more are rejected.");

  public static final ConfigOption<Integer> ENGINE_ATTEMPTS =
      ALL.range(
          key("engine.attempts").intType().defaultValue(3),
          1,
          1000,
          "How often a turn may fail an engine step, or end the process, on its own before its"
              + " reply is 'error'.");

  public static final ConfigOption<Integer> INTAKE_THREADS =
      ALL.range(
          key("engine.intake-threads").intType().defaultValue(2),
          1,
          64,
          "Threads that render and tokenise prompts.");

  public static final ConfigOption<Boolean> KV_EVENTS_ENABLED =
      ALL.flag(
          key("kv-events.enabled").booleanType().defaultValue(false),
          "Whether each engine publishes what is in its cache, on kafka.topic.kv-events.");

  public static final ConfigOption<Boolean> KV_EVENTS_TOKEN_IDS =
      ALL.flag(
          key("kv-events.token-ids").booleanType().defaultValue(false),
          "Whether KV events have the token ids of pages: what users wrote.");

  public static final ConfigOption<Integer> KV_EVENTS_BUFFER =
      ALL.range(
          key("kv-events.buffer").intType().defaultValue(65_536),
          1,
          10_000_000,
          "KV events that may wait for Kafka; if there are more, the whole content of the cache is"
              + " published again.");

  public static final ConfigOption<Duration> KV_EVENTS_RETENTION =
      ALL.duration(
          key("kv-events.retention").durationType().defaultValue(Duration.ofDays(1)),
          Duration.ofSeconds(30),
          "a duration of at least 30 s, such as 1m or 7d",
          "Events of an engine that has published nothing for this long are deleted by the next "
              + "engine that starts.");

  public static final ConfigOption<Integer> MAX_QUEUED_PER_SESSION =
      ALL.range(
          key("session.max-queued").intType().defaultValue(16),
          1,
          1_000_000,
          "Turns that a session may have running and waiting; more are rejected.");

  public static final ConfigOption<Integer> MAX_BRANCHES =
      ALL.range(
          key("session.max-branches").intType().defaultValue(64),
          1,
          1_000_000,
          "Branches that a session may have.");

  public static final ConfigOption<Integer> MAX_TURNS =
      ALL.range(
          key("session.max-turns").intType().defaultValue(1_000),
          1,
          1_000_000,
          "Turns of a branch that its history and its prompts keep; session.overflow decides what"
              + " happens to more.");

  public static final ConfigOption<Duration> RETENTION =
      ALL.duration(
          key("session.retention").durationType().defaultValue(Duration.ofDays(7)),
          "How long a session is known after its last event, also a closed or erased one, and so"
              + " the resends of its events.");

  public static final ConfigOption<Duration> CANCEL_RETENTION =
      ALL.duration(
          key("session.cancel-retention").durationType().defaultValue(Duration.ofMinutes(10)),
          "How long a cancel waits for a turn that has not been seen.");

  public static final ConfigOption<Overflow> OVERFLOW =
      ALL.choice(
          key("session.overflow").enumType(Overflow.class).defaultValue(Overflow.DROP_OLDEST),
          Overflow.values(),
          "What happens to a conversation that outgrows the context window.");

  public static final ConfigOption<Integer> MAX_QUEUED_PER_TENANT =
      ALL.range(
          key("operator.max-queued-per-tenant").intType().defaultValue(4096),
          1,
          10_000_000,
          "Turns that a tenant may have running and waiting on one TaskManager; more are"
              + " rejected.");

  public static final ConfigOption<Integer> MAX_QUEUED =
      ALL.range(
          key("operator.max-queued").intType().defaultValue(16_384),
          1,
          10_000_000,
          "Turns that a TaskManager may have running and waiting; more are rejected.");

  public static final ConfigOption<Integer> MAX_SESSIONS_PER_TENANT =
      ALL.range(
          key("operator.max-sessions-per-tenant").intType().defaultValue(1_000_000),
          1,
          Integer.MAX_VALUE,
          "Sessions that a tenant may have open on one TaskManager; more are rejected.");

  public static final ConfigOption<Integer> MAX_SESSIONS =
      ALL.range(
          key("operator.max-sessions").intType().defaultValue(1_000_000),
          1,
          Integer.MAX_VALUE,
          "Sessions that a TaskManager may have open; more are rejected.");

  public static final ConfigOption<Integer> MAX_RUNNING =
      ALL.range(
          key("operator.max-running").intType().defaultValue(256),
          1,
          65_536,
          "Turns that a subtask hands to the engine at once; those of all subtasks on a TaskManager"
              + " should be at most engine.max-waiting.");

  public static final ConfigOption<Integer> MAX_TOKENS =
      ALL.range(
          key("generation.max-tokens").intType().defaultValue(512),
          1,
          Integer.MAX_VALUE,
          "Most tokens of a reply where neither event nor session has a limit.");

  public static final ConfigOption<Double> TEMPERATURE =
      ALL.range(
          key("generation.temperature").doubleType().defaultValue(0.7),
          0,
          2,
          "Temperature where neither event nor session has one.");

  public static final ConfigOption<Integer> TOP_K =
      ALL.range(
          key("generation.top-k").intType().noDefaultValue(),
          0,
          Integer.MAX_VALUE,
          "top_k where neither event nor session has one.");

  public static final ConfigOption<Double> TOP_P =
      ALL.range(
          key("generation.top-p").doubleType().defaultValue(0.95),
          1e-6,
          1,
          "top_p where neither event nor session has one.");

  public static final ConfigOption<Double> MIN_P =
      ALL.range(
          key("generation.min-p").doubleType().noDefaultValue(),
          0,
          1,
          "min_p where neither event nor session has one.");

  public static final ConfigOption<Double> REPETITION_PENALTY =
      ALL.range(
          key("generation.repetition-penalty").doubleType().noDefaultValue(),
          0.01,
          10,
          "Repetition penalty where neither event nor session has one.");

  public static final ConfigOption<Integer> EVENT_MAX_BYTES =
      ALL.range(
          key("events.max-bytes").intType().defaultValue(4 << 20),
          1024,
          64 << 20,
          "Largest event that is read; a larger one is rejected.");

  public static final ConfigOption<Integer> REPLY_MAX_BYTES =
      ALL.range(
          key("replies.max-bytes").intType().defaultValue(900_000),
          16 * 1024,
          64 << 20,
          "Largest reply; below the topic's max.message.bytes. See 'truncated' in the reply.");

  public static final ConfigOption<Integer> DEAD_LETTER_MAX_BYTES =
      ALL.range(
          key("dead-letters.max-bytes").intType().defaultValue(900_000),
          1,
          64 << 20,
          "Bytes of an unreadable record that are kept; below the topic's max.message.bytes.");

  public static final ConfigOption<String> BOOTSTRAP_SERVERS =
      ALL.text(
          key("kafka.bootstrap-servers").stringType().defaultValue("localhost:9092"),
          "Brokers to start from, HOST:PORT[,HOST:PORT…].");

  public static final ConfigOption<String> EVENTS_TOPIC =
      ALL.text(
          key("kafka.topic.events").stringType().defaultValue("conversation-events"),
          "Topic of conversation events, read.");

  public static final ConfigOption<String> REPLIES_TOPIC =
      ALL.text(
          key("kafka.topic.replies").stringType().defaultValue("replies"),
          "Topic of replies, written exactly once; read it with isolation level read_committed.");

  public static final ConfigOption<String> DELTAS_TOPIC =
      ALL.text(
          key("kafka.topic.deltas").stringType().defaultValue("reply-deltas"),
          "Topic of pieces of replies that are being generated, written at least once.");

  public static final ConfigOption<String> DEAD_LETTERS_TOPIC =
      ALL.text(
          key("kafka.topic.dead-letters").stringType().defaultValue("conversation-dead-letters"),
          "Topic of records that cannot be read, written at least once.");

  public static final ConfigOption<String> CONTROL_TOPIC =
      ALL.text(
          key("kafka.topic.control").stringType().defaultValue("conversation-control"),
          "Topic of control events, read by every subtask.");

  public static final ConfigOption<String> KV_EVENTS_TOPIC =
      ALL.text(
          key("kafka.topic.kv-events").stringType().defaultValue("kv-events"),
          "Topic of what the engines have in their caches, compacted; only with"
              + " kv-events.enabled.");

  public static final ConfigOption<Boolean> REQUIRE_SESSION_KEY =
      ALL.flag(
          key("kafka.require-session-key").booleanType().defaultValue(true),
          "Whether an event is a dead letter if its record's key is not its session. With 'false'"
              + " other keys are allowed, and the sender answers for the order of a session's"
              + " events.");

  public static final ConfigOption<Boolean> CREATE_TOPICS =
      ALL.flag(
          key("kafka.create-topics").booleanType().defaultValue(false),
          "Whether missing topics are created at start.");

  public static final ConfigOption<Integer> PARTITIONS =
      ALL.range(
          key("kafka.partitions").intType().defaultValue(4),
          1,
          10_000,
          "Partitions of topics that are created.");

  public static final ConfigOption<Integer> REPLICATION =
      ALL.range(
          key("kafka.replication").intType().defaultValue(1),
          1,
          100,
          "Replication factor of topics that are created.");

  public static final ConfigOption<String> GROUP_ID =
      ALL.text(
          key("kafka.group-id").stringType().defaultValue("radixflow"),
          "Consumer group under which read offsets are published.");

  public static final ConfigOption<StartFrom> START_FROM =
      ALL.choice(
          key("kafka.start-from").enumType(StartFrom.class).defaultValue(StartFrom.COMMITTED),
          StartFrom.values(),
          "Where a job without a checkpoint starts to read; 'committed' is the group's offset, "
              + "or the earliest event.");

  public static final ConfigOption<String> TRANSACTIONAL_ID_PREFIX =
      ALL.text(
          key("kafka.transactional-id-prefix").stringType().defaultValue("radixflow"),
          "Prefix of the transactional ids; unique for each job on a Kafka cluster.");

  public static final ConfigOption<Duration> TRANSACTION_TIMEOUT =
      ALL.duration(
          key("kafka.transaction-timeout").durationType().defaultValue(Duration.ofMinutes(15)),
          "After this time without a commit the broker aborts replies, and the job has to write "
              + "them again; at least a minute more than job.checkpoint-interval, at most the "
              + "broker's transaction.max.timeout.ms.");

  public static final ConfigOption<Duration> CONNECT_TIMEOUT =
      ALL.duration(
          key("kafka.connect-timeout").durationType().defaultValue(Duration.ofSeconds(10)),
          "How long the start waits for a broker.");

  public static final ConfigOption<String> JOB_NAME =
      ALL.text(
          key("job.name").stringType().noDefaultValue(),
          "The job's name in Flink; without it 'radixflow' and the model.");

  public static final ConfigOption<Integer> PARALLELISM =
      ALL.range(
          key("job.parallelism").intType().defaultValue(1), 1, 32_768, "Subtasks of the job.");

  public static final ConfigOption<Integer> MAX_PARALLELISM =
      ALL.range(
          key("job.max-parallelism").intType().defaultValue(128),
          1,
          32_768,
          "Key groups; fixed for the life of the job's state.");

  public static final ConfigOption<Duration> CHECKPOINT_INTERVAL =
      ALL.duration(
          key("job.checkpoint-interval").durationType().defaultValue(Duration.ofSeconds(1)),
          Duration.ofMillis(10),
          "a duration of at least 10 ms, such as 200ms or 10s",
          "Time between checkpoints: a finished reply waits this long to be committed.");

  public static final ConfigOption<Duration> BUFFER_TIMEOUT =
      ALL.duration(
          key("job.buffer-timeout").durationType().defaultValue(Duration.ofMillis(2)),
          "How long Flink may keep records in a network buffer.");

  private RadixflowOptions() {}

  /** All options, in the order of the documentation. */
  static List<OptionSpec<?>> specs() {
    List<OptionSpec<?>> specs = new ArrayList<>(ALL.specs());
    specs.addAll(CacheConfig.specs());
    specs.addAll(TierConfig.specs());
    specs.addAll(DiskTierConfig.specs());
    specs.addAll(RemoteTierConfig.specs());
    specs.addAll(SchedulerConfig.specs());
    return specs;
  }

  /** Element type of the KV pool. */
  public enum KvType {
    AUTO,
    F32,
    F16,
    BF16
  }

  /** Where a job without a checkpoint begins to read. */
  public enum StartFrom {
    COMMITTED,
    EARLIEST,
    LATEST
  }
}
