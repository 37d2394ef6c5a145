package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.step.StepProfile;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.lab.device.MachinePeak;
import io.radixflow.lab.device.StepBench;
import io.radixflow.lab.device.StepWork;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ModelConfig;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the backend's tokens per second and their share of the machine's peak. */
@Command(
    name = "model",
    description = {
      "Measure the backend alone: prefill of 512 tokens, decode of 64 tokens of one sequence, "
          + "and of 8 sequences together; with --context also decode after a long prompt.",
      "The shares are of this machine's measured read bandwidth and multiply-adds (of 16-bit "
          + "integers for integer products) with the same number of threads."
    })
public final class BenchModelCommand extends CliCommand {
  private static final int PREFILL = 512;
  private static final int DECODE = 64;
  private static final int SEQUENCES = 8;

  @Mixin BenchOptions common;

  @Option(names = "--chunk", paramLabel = "N", description = "Prompt tokens in one batch.")
  int chunk = 256;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Also decode 64 tokens of one sequence after N tokens; 0 leaves this out.")
  int context = 0;

  @Option(
      names = "--profile",
      description = {
        "Also show the time of each operation in each case's steps (CPU backend), its shares of "
            + "the step and of the machine's peaks, and how busy the threads are."
      })
  boolean profile;

  @Option(
      names = "--load",
      description = {
        "Only measure opening: the seconds until the first logits, since the start of this JVM and"
            + " since the model was asked for, and the memory of this process. Repeat the command"
            + " for more rounds; the first open of a new file also reads it from the disk."
      })
  boolean load;

  BenchModelCommand(CliEnvironment environment) {
    super(environment);
  }

  /**
   * One measured case.
   *
   * @param tokensAStep rows of a step
   * @param outputs rows that ask for a token
   * @param context tokens of KV that a step reads besides its own; 0 if they are few
   */
  private record Case(String name, int tokensAStep, int outputs, int context, Samples samples) {
    Case(String name, int tokensAStep, int outputs, int context) {
      this(name, tokensAStep, outputs, context, new Samples());
    }

    /** Returns the number of tokens in a run of this case. */
    int tokens() {
      return outputs == 0 ? PREFILL : tokensAStep * DECODE;
    }
  }

  /** The profile and the duration of a run. */
  private record Profiled(double seconds, StepProfile profile) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (chunk < 1 || context < 0) {
      throw new CliException(
          chunk < 1
              ? "--chunk is " + chunk + "; it must be at least 1"
              : "--context is " + context + "; it must be at least 0");
    }
    if (load && (profile || context > 0)) {
      throw new CliException("--load measures no steps; leave out --profile and --context");
    }
    List<Case> cases = cases();
    long start = System.nanoTime();
    try (ServedModel model = common.model.open(this);
        Backend backend = common.model.openBackend(this, model)) {
      if (profile && !(backend instanceof CpuBackend)) {
        throw new CliException(
            "--profile is for the CPU backend, not for "
                + backend.name()
                + "; use --device cpu, or 'bench gpu' for a GPU");
      }
      double loadSeconds = (System.nanoTime() - start) * 1e-9;
      if (load) {
        common.report.write(this, opening(model, backend, loadSeconds, start));
        return 0;
      }
      List<Profiled> profiles = measure(backend, cases);
      Figures figures = new Figures();
      figures.json().put("model", model.name()).put("backend", backend.description());
      figures.json().put("threads", common.model.computeThreads());
      figures.note("%s on %s", model.name(), backend.description());
      addLoading(figures, loadSeconds, ResidentMemory.read());
      MachinePeak peak = peak();
      addPeak(figures, peak);
      addCases(figures, cases, backend, peak, profiles);
      common.report.write(this, figures);
    }
    return 0;
  }

  /** Computes the first logits and reports how long opening took until then. */
  private static Figures opening(
      ServedModel model, Backend backend, double loadSeconds, long startNanos)
      throws IOException, InterruptedException {
    try (StepBench bench = new StepBench(backend, 1, 1, 1)) {
      bench.decode(1, 1, 0);
    }
    double opened = (System.nanoTime() - startNanos) * 1e-9;
    long started = ManagementFactory.getRuntimeMXBean().getStartTime();
    double whole = (System.currentTimeMillis() - started) * 1e-3;
    Figures figures = new Figures();
    figures.json().put("model", model.name()).put("backend", backend.description());
    figures.json().put("first_logits_seconds", opened).put("since_jvm_start_seconds", whole);
    figures.note("%s on %s", model.name(), backend.description());
    figures.note(
        "first logits %.2f s after the model was asked for, %.2f s after the JVM started",
        opened, whole);
    addLoading(figures, loadSeconds, ResidentMemory.read());
    return figures;
  }

  private List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    cases.add(new Case("prefill " + PREFILL, Math.min(chunk, PREFILL), 0, 0));
    cases.add(new Case("decode " + DECODE, 1, 1, 0));
    cases.add(new Case("decode " + DECODE + " x " + SEQUENCES, SEQUENCES, SEQUENCES, 0));
    if (context > 0) {
      cases.add(new Case("decode " + DECODE + " behind " + context, 1, 1, context));
    }
    return cases;
  }

  /** Measures the cases; returns a profile of each if profiles are requested. */
  private List<Profiled> measure(Backend backend, List<Case> cases) throws InterruptedException {
    List<Profiled> profiles = new ArrayList<>();
    int tokens = Math.max(PREFILL, context + DECODE);
    try (StepBench bench = new StepBench(backend, SEQUENCES, tokens, DECODE);
        Progress progress = progress("measuring")) {
      if (context > 0) {
        progress.detail("prefill of " + context);
        bench.prefill(context, chunk);
      }
      for (int round : common.rounds.all(progress)) {
        for (Case one : cases) {
          double speed = speed(bench, one);
          if (round >= 0) {
            one.samples.add(speed);
          }
        }
      }
      for (Case one : profile ? cases : List.<Case>of()) {
        progress.detail("profile of " + one.name);
        profiles.add(profile((CpuBackend) backend, bench, one));
      }
    }
    return profiles;
  }

  private Profiled profile(CpuBackend backend, StepBench bench, Case one)
      throws InterruptedException {
    StepProfile steps = new StepProfile();
    backend.profile(steps);
    double seconds = one.tokens() / speed(bench, one);
    backend.profile(null);
    return new Profiled(seconds, steps);
  }

  private double speed(StepBench bench, Case one) throws InterruptedException {
    return one.tokens()
        / (one.outputs == 0
            ? bench.prefill(PREFILL, chunk)
            : bench.decode(one.tokensAStep, DECODE, one.context));
  }

  /**
   * Returns the machine's peak with as many threads as the backend has, or null without native
   * kernels.
   */
  private MachinePeak peak() throws InterruptedException {
    try (Progress progress = progress("measuring the machine")) {
      return MachinePeak.measure(common.model.computeThreads());
    } catch (IllegalStateException e) {
      err().println("no peak figures: " + e.getMessage());
      return null;
    }
  }

  private static void addLoading(Figures figures, double seconds, ResidentMemory memory) {
    figures.json().put("load_seconds", seconds);
    figures.note("loaded in %.2f s", seconds);
    if (memory != null) {
      figures.json().put("resident_bytes", memory.bytes());
      figures.json().put("most_resident_bytes", memory.mostBytes());
      figures.note(
          "%d MiB of this process are in memory, %d at most",
          memory.bytes() >> 20, memory.mostBytes() >> 20);
      if (memory.shareBytes() >= 0) {
        figures.json().put("share_bytes", memory.shareBytes());
        figures.note(
            "%d MiB if pages of several processes are divided among them",
            memory.shareBytes() >> 20);
      }
    }
  }

  private static void addPeak(Figures figures, MachinePeak peak) {
    if (peak == null) {
      return;
    }
    figures.json().put("read_bytes_per_second", peak.readBytesPerSecond());
    figures.json().put("flops_per_second", peak.flopsPerSecond());
    figures.note(
        "machine with %d threads: read %.1f GB/s, multiply-add %.0f GFLOP/s",
        peak.threads(), peak.readBytesPerSecond() / 1e9, peak.flopsPerSecond() / 1e9);
    if (peak.integerOpsPerSecond() > 0) {
      figures.json().put("integer_ops_per_second", peak.integerOpsPerSecond());
      figures.note("multiply-add of 16-bit integers %.0f GOP/s", peak.integerOpsPerSecond() / 1e9);
    }
  }

  private void addCases(
      Figures figures,
      List<Case> cases,
      Backend backend,
      MachinePeak peak,
      List<Profiled> profiles) {
    ArrayNode results = figures.json().putArray("results");
    figures.head("tokens/s; share of peak");
    for (Case one : cases) {
      ObjectNode json = results.addObject().put("name", one.name);
      one.samples.putInto(json);
      figures.line(
          one.name + (peak == null ? "" : shares(one, backend, peak, json)), one.samples, 1);
    }
    for (int i = 0; i < profiles.size(); i++) {
      account(cases.get(i), profiles.get(i), backend, peak)
          .addTo(figures, (ObjectNode) results.get(i));
    }
  }

  private StepAccount account(Case one, Profiled run, Backend backend, MachinePeak peak) {
    return new StepAccount(
        one.name,
        run.seconds,
        run.profile,
        common.model.computeThreads(),
        peak == null ? 0 : opsPerSecond(backend, peak) / 2,
        peak == null ? 0 : peak.readBytesPerSecond());
  }

  /** Returns the operations per second that bound this backend's products. */
  private static double opsPerSecond(Backend backend, MachinePeak peak) {
    boolean integers = backend instanceof CpuBackend cpu && cpu.multipliesIntegers();
    return integers ? peak.integerOpsPerSecond() : peak.flopsPerSecond();
  }

  /** Returns the shares of the machine's peak that a case reaches. */
  private static String shares(Case one, Backend backend, MachinePeak peak, ObjectNode json) {
    double steps = one.samples.median() / one.tokensAStep;
    double compute =
        steps
            * StepWork.flops(backend.model(), one.tokensAStep, one.outputs)
            / opsPerSecond(backend, peak);
    long kv = contextBytes(backend.kvSpec(), one.context);
    double read = steps * (backend.weightBytes() + kv) / peak.readBytesPerSecond();
    json.put("compute_share", compute).put("read_share", read);
    String shares = String.format(Locale.ROOT, "; %.0f %% compute", compute * 100);
    // a step of a mixture of experts reads only some of the weights
    return backend.weightBytes() == 0 || mixture(backend.model())
        ? shares
        : shares + String.format(Locale.ROOT, ", %.0f %% bandwidth", read * 100);
  }

  /** Returns the bytes of KV that one query reads after {@code context} tokens. */
  private static long contextBytes(KvSpec spec, int context) {
    return spec.groups().stream()
        .mapToLong(
            group ->
                group.bytesPerToken()
                    * (group.window() > 0 ? Math.min(group.window(), context) : context))
        .sum();
  }

  private static boolean mixture(ModelConfig model) {
    return model.blocks().stream().anyMatch(layer -> layer.feedForward() instanceof Experts);
  }
}
