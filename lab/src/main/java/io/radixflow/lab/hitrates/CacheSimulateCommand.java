package io.radixflow.lab.hitrates;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.ConsoleProgress;
import io.radixflow.cli.command.common.JsonLineFiles;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import io.radixflow.lab.workload.WorkloadOptions;
import io.radixflow.lab.workload.WorkloadReader;
import io.radixflow.models.ModelProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Computes hit rates of a workload for sizes and policies of the cache. */
@Command(
    name = "simulate",
    description = {
      "Plan a cache for recorded traffic: its hit rate for each capacity and eviction policy, "
          + "next to the highest hit rate that any policy could reach.",
      "The requests run one after the other on the engine's own cache."
    })
public final class CacheSimulateCommand extends CliCommand {
  private static final String ALL = "all";

  @Parameters(
      paramLabel = "WORKLOAD",
      arity = "1..*",
      description = {
        "Files of JSON lines, plain or gzip; - for stdin. The first record shows the format:",
        "hash_ids: a request trace with block ids, as Mooncake published them;",
        "chat_id, hash_ids: one with conversations too, as Qwen-Bailian published them;",
        "requests: sessions of coding agents with block ids, as kv-cache-tester and the"
            + " cc-traces-weka data sets have them;",
        "session_id, input_tokens_total: the same with numbers of tokens only, as TraceLab"
            + " published them;",
        "session, t, ranges: an agent trace with runs of ids of 64-token blocks;",
        "session with messages, type or choices: events and replies of the job's own topics, "
            + "each line begins with its time if kafka-console-consumer printed it."
      })
  List<String> files;

  @Option(
      names = "--capacity",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "N",
      split = ",",
      description = {
        "Sizes of the cache in pages, or in tokens with the suffix t"
            + " (default: a hundredth of the workload's pages to all of them)."
      })
  List<String> capacities = new ArrayList<>();

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      split = ",",
      defaultValue = ALL,
      description = "Eviction policies, or 'all'.")
  List<String> policies;

  @Option(
      names = "--page",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "TOKENS",
      description = {
        "Tokens per page: a multiple of the workload's block size, or 1 for a page of one"
            + " block (default: 512 for traces with blocks, the engine's 16 for events)."
      })
  int page;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = {
        "Make the prompts of events as the job would: a GGUF file, a Hugging Face directory, a "
            + "hub name, or 'sim' (default: four characters count as a token)."
      })
  String model;

  @Option(
      names = "--offline",
      description = "Never use the network for a model (environment: RADIXFLOW_OFFLINE=1).")
  boolean offline;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures as JSON to this file; - for stdout, without a table.")
  String json;

  @Option(
      names = "--block-tokens",
      paramLabel = "N",
      description = "Tokens that an id of hash_ids stands for (Qwen-Bailian's: 16).")
  int blockTokens = 512;

  @Option(
      names = "--session-spacing",
      paramLabel = "SECONDS",
      description = "Time between the starts of an agent trace's sessions.")
  double sessionSpacing = 60;

  @Option(
      names = "--horizon",
      paramLabel = "SECONDS",
      description = "Length of the used part of an agent trace.")
  double horizon = 28800;

  @Option(
      names = "--protected",
      paramLabel = "SHARE",
      description = "Largest part of the capacity that slru protects.")
  double protectedShare = 0.8;

  @Option(
      names = "--no-hints",
      description = "Give the cache no hints about sessions, not even that they were closed.")
  boolean noHints;

  @Option(
      names = "--window",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "TOKENS",
      description = {
        "Compare a model whose sliding-window layers see this number of tokens with one without"
            + " such layers, in pools of equal bytes, under the first policy of --policy."
      })
  int window;

  @Option(
      names = "--window-bytes",
      paramLabel = "PERCENT",
      description = "Part of a token's KV bytes that window layers have, for --window.")
  double windowBytes = 83.3;

  @Option(
      names = "--window-share",
      paramLabel = "SHARE",
      split = ",",
      defaultValue = "0.5,0.25,0.1",
      description = "Values of cache.window-share to try, for --window.")
  List<Double> windowShares;

  @Option(
      names = "--tiers",
      description = {
        "Put host memory and a disk below the cache, and show where hits come from, instead of"
            + " trying capacities: the engine's own tiers run, with pages of 8 bytes, a request at"
            + " a time."
      })
  boolean tiers;

  @Option(
      names = "--tier-sizes",
      paramLabel = "PERCENT",
      split = ",",
      defaultValue = "10,20,100",
      description = {
        "Sizes of device, host and disk for --tiers, in percent of the workload's pages. The "
            + "disk has copies of the host's pages."
      })
  List<Double> tierSizes;

  CacheSimulateCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    check();
    List<String> names = policies();
    Workload workload = read();
    Rates rates;
    try (Progress progress = progress("simulating")) {
      rates = simulate(workload, names, progress);
    }
    report(workload, rates);
    return 0;
  }

  private void report(Workload workload, Rates rates) throws IOException {
    String text = json == null ? null : rates.json(workload).toPrettyString() + "\n";
    if ("-".equals(json)) {
      out().print(text);
      out().flush();
      return;
    }
    if (json != null) {
      Files.writeString(Path.of(json), text);
    }
    rates.print(workload, out());
  }

  private void check() {
    if (tiers && isGiven("--capacity")) {
      throw new CliException("--tiers has no --capacity; see --tier-sizes");
    }
    CliException.throwIf(
        isGiven("--window") && (tiers || window < 1),
        "--window must be at least 1, and does not go with --tiers");
    CliException.throwIf(
        !(windowBytes > 0 && windowBytes < 100)
            || windowShares.stream().anyMatch(share -> !(share > 0 && share <= 1)),
        "--window-bytes must be above 0 and below 100, --window-share above 0 and at most 1");
    CliException.throwIf(!tiers && isGiven("--tier-sizes"), "--tier-sizes needs --tiers");
    CliException.throwIf(
        tierSizes.size() != 3
            || !(tierSizes.get(0) > 0 && tierSizes.get(1) > 0 && tierSizes.get(2) >= 0),
        "--tier-sizes must be three percentages DEVICE,HOST,DISK, the first two above 0");
    CliException.throwIf(
        isGiven("--page") && page < 1 || blockTokens < 1,
        "--page and --block-tokens must be at least 1");
    CliException.throwIf(
        !(sessionSpacing >= 0) || !(horizon > 0),
        "--session-spacing must be 0 or more, --horizon above 0");
    if (!(protectedShare >= 0 && protectedShare <= 1)) {
      throw new CliException("--protected is " + protectedShare + "; it must be 0 to 1");
    }
  }

  private Rates simulate(Workload workload, List<String> names, Progress progress) {
    CacheWorkload requests = workload.requests();
    HitRateStudy study =
        new HitRateStudy(
            requests,
            names,
            protectedShare,
            !noHints,
            (done, all) -> progress.detail(done + " of " + all + (tiers ? " policies" : " cells")));
    if (tiers) {
      return study.runTiers(
          pages(workload, tierSizes.get(0)),
          pages(workload, tierSizes.get(1)),
          pages(workload, tierSizes.get(2)));
    }
    List<Integer> sizes =
        capacities.isEmpty()
            ? Capacities.of(requests.distinctBlocks())
            : Capacities.parse(capacities, workload.pageTokens());
    return window > 0
        ? study.runWindows(
            sizes, windowShares, (window - 1) / workload.pageTokens() + 1, windowBytes / 100)
        : study.run(sizes);
  }

  /** Returns the pages of a share of a workload; 0 for no share, else at least 1. */
  private static int pages(Workload workload, double percent) {
    double pages = Math.ceil(percent / 100 * workload.requests().distinctBlocks());
    return (int) Math.min(Integer.MAX_VALUE / Long.BYTES, pages);
  }

  private List<String> policies() {
    Set<String> names = new LinkedHashSet<>();
    for (String name : policies) {
      if (name.equalsIgnoreCase(ALL)) {
        names.addAll(EvictionPolicies.names());
      } else {
        names.add(known(name.strip()));
      }
    }
    return List.copyOf(names);
  }

  private static String known(String name) {
    try {
      return EvictionPolicies.of(name, 1, 1).name();
    } catch (IllegalArgumentException e) {
      throw new CliException("--policy: " + e.getMessage());
    }
  }

  private Workload read() throws IOException {
    try (ServedModel served = model == null ? null : openModel()) {
      return read(new WorkloadOptions(page, blockTokens, sessionSpacing, horizon, served));
    }
  }

  private ServedModel openModel() throws IOException {
    ModelProgress transfer = new ConsoleProgress(err(), environment.terminal(), System::nanoTime);
    return environment.models().locate(model, offline, transfer).open();
  }

  private Workload read(WorkloadOptions options) throws IOException {
    try (Progress progress = progress("reading")) {
      return new WorkloadReader(options, records -> progress.detail(records + " records"))
          .read(files, file -> JsonLineFiles.openStream(this, file));
    }
  }
}
