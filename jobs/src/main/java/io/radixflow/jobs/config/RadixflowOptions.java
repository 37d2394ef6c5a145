package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.ThreadPriority;
import io.radixflow.operators.session.ServingOptions.ModelChange;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/**
 * The options of the device, the engine, sessions and the Flink job. Options of the prefix cache
 * are in {@link CacheConfig}, of the tiers below the cache in {@link TierConfig}, of the scheduler
 * in {@link SchedulerConfig}, of Kafka in {@link KafkaConfig}. Options that clients also read are
 * in {@link SharedConfig}.
 */
public final class RadixflowOptions {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<String> DEVICE =
      ALL.add(
              key("model.device").stringType().defaultValue("auto"),
              "one of " + DeviceName.ALLOWED,
              DeviceName::isValid)
          .describe("Device that computes; 'auto' takes the best available device.");

  public static final ConfigOption<Integer> THREADS =
      ALL.integer("model.threads", 0, 0, 1024)
          .describe("Compute threads of the CPU; 0 leaves one core of more than two to Flink.");

  public static final ConfigOption<ThreadPriority> THREAD_PRIORITY =
      ALL.choice("model.thread-priority", ThreadPriority.NICE)
          .describe(
              "Share that compute threads get of a CPU core that other threads also need: 'nice' is"
                  + " a tenth. 'idle' is almost nothing, so that text is sent sooner. Use 'idle'"
                  + " only for a TaskManager in a container of its own: another busy process on the"
                  + " machine almost stops the engine.");

  public static final ConfigOption<MemorySize> WEIGHT_FILES =
      ALL.size("model.weight-files", MemorySize.parse("64gb"), "a memory size such as 20gb")
          .describe(
              "On a CPU: the largest size of all files of repacked weights in the cache directory"
                  + " together. Beyond it, files that were unused for the longest time are deleted,"
                  + " unless a process maps them. 0 writes no files.");

  public static final ConfigOption<KvType> KV_TYPE =
      ALL.choice("model.kv-type", KvType.AUTO)
          .describe(
              "Element type of the KV pool: f32, f16 or fp8 on a CPU, bf16 or fp8 on a GPU; f16"
                  + " halves the memory of f32 and rounds, fp8 takes about half of f16 or bf16 and"
                  + " rounds to four bits. With f32 activations are not rounded either, which is"
                  + " slower. 'auto' is f16 or bf16.");

  public static final ConfigOption<GpuMode> GPU_MODE =
      ALL.choice("gpu.mode", GpuMode.DETERMINISTIC)
          .describe(
              "Whether a reply on a GPU is bit-identical regardless of other requests, or may"
                  + " differ and be faster.");

  public static final ConfigOption<MemorySize> GPU_MEMORY =
      ALL.size("gpu.memory", MemorySize.ZERO, "a memory size such as 20gb")
          .describe(
              "GPU memory for weights, activations and KV pool together; 0 takes nine tenths of the"
                  + " free memory.");

  public static final ConfigOption<Integer> KV_PAGES =
      ALL.integer("engine.kv-pages", 0, 0, Integer.MAX_VALUE)
          .describe("Pages of the KV pool; 0 sizes it by engine.kv-memory.");

  public static final ConfigOption<MemorySize> KV_MEMORY =
      ALL.size("engine.kv-memory", MemorySize.ZERO, "a memory size such as 512mb")
          .describe(
              "Memory of the KV pool. With 0 on a GPU: the rest of gpu.memory. With 0 on a CPU:"
                  + " four context windows, at most four times the weights (but at least 256 MB or"
                  + " one window) and at most a quarter of the memory outside Java's heap. The log"
                  + " shows the size at start.");

  public static final ConfigOption<Integer> PAGE_TOKENS =
      ALL.integer("engine.page-tokens", 16, 1, 1024)
          .describe("Tokens per page; the engine uses the nearest size that the device supports.");

  public static final ConfigOption<Integer> STEP_ROWS =
      ALL.integer("engine.step-rows", 256, 1, 65_536)
          .describe(
              "Token budget of an engine step, shared by decoding requests and prefill chunks.");

  public static final ConfigOption<Integer> PREFILL_CHUNK =
      ALL.integer("engine.prefill-chunk", 256, 1, 65_536)
          .describe("Maximum prompt tokens of one request in a step.");

  public static final ConfigOption<Mode> SPECULATION =
      ALL.choice("engine.speculation", SpeculationOptions.DEFAULT.mode())
          .describe(
              "Whether steps verify guesses of the next tokens of replies: never, where it pays, or"
                  + " wherever there is a guess. Guesses change the speed of replies, not their"
                  + " text.");

  public static final ConfigOption<Integer> SPECULATION_DRAFTS =
      ALL.integer("engine.speculation-drafts", SpeculationOptions.DEFAULT.drafts(), 1, 64)
          .describe("Maximum guessed tokens of a reply per step.");

  public static final ConfigOption<MemorySize> SPECULATION_HISTORY =
      ALL.size(
              "engine.speculation-history",
              new MemorySize(SpeculationOptions.DEFAULT_HISTORY),
              "a memory size such as 16mb")
          .describe(
              "Memory for the tokens of ended turns, which are the source of guesses for replies of"
                  + " the same tenant; 0 for none.");

  public static final ConfigOption<Integer> ENGINE_MAX_RUNNING =
      ALL.integer("engine.max-running", 64, 1, 65_536)
          .describe("Requests that generate at once; at most engine.step-rows.");

  public static final ConfigOption<Integer> ENGINE_MAX_WAITING =
      ALL.integer("engine.max-waiting", 1024, 1, 1_000_000)
          .describe("Requests that wait in the engine; more are rejected.");

  public static final ConfigOption<Integer> ENGINE_ATTEMPTS =
      ALL.integer("engine.attempts", 3, 1, 1000)
          .describe(
              "How often a turn may fail an engine step, or end the process, on its own before its"
                  + " reply is 'error'.");

  public static final ConfigOption<Integer> INTAKE_THREADS =
      ALL.integer("engine.intake-threads", 2, 1, 64)
          .describe("Threads that render and tokenise prompts.");

  public static final ConfigOption<Boolean> KV_EVENTS_ENABLED =
      ALL.flag("kv-events.enabled", false)
          .describe(
              "Whether each engine publishes the content of its cache on kafka.topic.kv-events.");

  public static final ConfigOption<Boolean> KV_EVENTS_TOKEN_IDS =
      ALL.flag("kv-events.token-ids", false)
          .describe("Whether KV events contain the token ids of pages, and so the text of users.");

  public static final ConfigOption<Integer> KV_EVENTS_BUFFER =
      ALL.integer("kv-events.buffer", 65_536, 1, 10_000_000)
          .describe(
              "KV events that may wait for Kafka; if there are more, the whole content of the cache"
                  + " is published again.");

  public static final ConfigOption<Duration> KV_EVENTS_RETENTION =
      ALL.duration(
              "kv-events.retention",
              Duration.ofDays(1),
              Duration.ofSeconds(30),
              "a duration of at least 30 s, such as 1m or 7d")
          .describe(
              "Events of an engine that has published nothing for this long are deleted by the next"
                  + " engine that starts.");

  public static final ConfigOption<Integer> MAX_QUEUED_PER_SESSION =
      ALL.integer("session.max-queued", 16, 1, 1_000_000)
          .describe("Turns that a session may have running and waiting; more are rejected.");

  public static final ConfigOption<Integer> MAX_BRANCHES =
      ALL.integer("session.max-branches", 64, 1, 1_000_000)
          .describe(
              "Branches that a session may have. Beyond this limit a fork is rejected, and a turn"
                  + " that begins a branch replaces the least recently used branch.");

  public static final ConfigOption<Integer> MAX_TURNS =
      ALL.integer("session.max-turns", 1_000, 1, 1_000_000)
          .describe(
              "Turns that a branch keeps in its history and prompts; session.overflow decides"
                  + " what happens to further turns.");

  public static final ConfigOption<Duration> RETENTION =
      ALL.duration("session.retention", Duration.ofDays(7))
          .describe(
              "How long a session is known after its last event, even if it is closed or erased."
                  + " Resent events are recognised for the same time.");

  public static final ConfigOption<Duration> CANCEL_RETENTION =
      ALL.duration("session.cancel-retention", Duration.ofMinutes(10))
          .describe("How long a cancel waits for a turn that has not been seen.");

  public static final ConfigOption<ModelChange> MODEL_CHANGE =
      ALL.choice("session.model-change", ModelChange.CONTINUE)
          .describe(
              "What happens to an unfinished reply when the job is restarted with another model or"
                  + " quantisation: continue its text (if the tokenizer differs, it starts over),"
                  + " restart it, or end it with its text so far.");

  public static final ConfigOption<Integer> MAX_QUEUED_PER_TENANT =
      ALL.integer("operator.max-queued-per-tenant", 4096, 1, 10_000_000)
          .describe(
              "Turns that a tenant may have running and waiting on one TaskManager; more are"
                  + " rejected.");

  public static final ConfigOption<Integer> MAX_QUEUED =
      ALL.integer("operator.max-queued", 16_384, 1, 10_000_000)
          .describe("Turns that a TaskManager may have running and waiting; more are rejected.");

  public static final ConfigOption<Integer> MAX_SESSIONS_PER_TENANT =
      ALL.integer("operator.max-sessions-per-tenant", 1_000_000, 1, Integer.MAX_VALUE)
          .describe("Sessions that a tenant may have open on one TaskManager; more are rejected.");

  public static final ConfigOption<Integer> MAX_SESSIONS =
      ALL.integer("operator.max-sessions", 1_000_000, 1, Integer.MAX_VALUE)
          .describe("Sessions that a TaskManager may have open; more are rejected.");

  public static final ConfigOption<Integer> MAX_RUNNING =
      ALL.integer("operator.max-running", 256, 1, 65_536)
          .describe(
              "Turns that a subtask passes to the engine at once; the sum over all subtasks on a"
                  + " TaskManager should be at most engine.max-waiting.");

  public static final ConfigOption<Integer> MAX_TOKENS =
      ALL.integer("generation.max-tokens", null, 1, Integer.MAX_VALUE)
          .describe(
              "Most tokens of a reply if neither event nor session has a limit; if unset, the reply"
                  + " may continue to the end of the context window. Set it for a model that may"
                  + " not stop by itself.");

  public static final ConfigOption<Double> TEMPERATURE =
      ALL.number("generation.temperature", null, 0, 2)
          .describe(
              "Temperature if neither event nor session has one; if unset, the model's own, else"
                  + " 1.");

  public static final ConfigOption<Integer> TOP_K =
      ALL.integer("generation.top-k", null, 0, Integer.MAX_VALUE)
          .describe("top_k if neither event nor session has one; if unset, the model's own.");

  public static final ConfigOption<Double> TOP_P =
      ALL.number("generation.top-p", null, 1e-6, 1)
          .describe(
              "top_p if neither event nor session has one; if unset, the model's own, else 1.");

  public static final ConfigOption<Double> MIN_P =
      ALL.number("generation.min-p", null, 0, 1)
          .describe("min_p if neither event nor session has one; if unset, the model's own.");

  public static final ConfigOption<Double> REPETITION_PENALTY =
      ALL.number("generation.repetition-penalty", null, 0.01, 10)
          .describe(
              "Repetition penalty if neither event nor session has one; if unset, the model's"
                  + " own.");

  public static final ConfigOption<String> JOB_NAME =
      ALL.text("job.name", null)
          .describe("The job's name in Flink; by default 'radixflow' and the model.");

  public static final ConfigOption<Integer> PARALLELISM =
      ALL.integer("job.parallelism", 1, 1, 32_768).describe("Subtasks of the job.");

  public static final ConfigOption<Integer> MAX_PARALLELISM =
      ALL.integer("job.max-parallelism", 128, 1, 32_768)
          .describe("Key groups; fixed for the life of the job's state.");

  public static final ConfigOption<Duration> BUFFER_TIMEOUT =
      ALL.duration(
              "job.buffer-timeout", Duration.ZERO, Duration.ZERO, "a duration such as 0ms or 2ms")
          .describe(
              "How long Flink may keep records in a network buffer; 0ms sends each record immediately"
                  + " and needs no threads that check periodically.");

  private RadixflowOptions() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** Element type of the KV pool. */
  public enum KvType {
    AUTO,
    F32,
    F16,
    BF16,
    FP8
  }
}
