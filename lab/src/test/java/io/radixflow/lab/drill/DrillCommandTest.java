package io.radixflow.lab.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.drill.proof.HttpVerifier;
import io.radixflow.lab.drill.proof.RecoveryTimes;
import io.radixflow.lab.drill.proof.TierTally;
import io.radixflow.lab.drill.proof.Verifier;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DrillCommandTest {

  private static final Samples NONE = new Samples();

  @Test
  void theTableCountsFaultsTurnsAndTimes() {
    String table = result(0, List.of()).table();

    assertThat(table)
        .contains("    3  kill -9 of a TaskManager\n")
        .contains("   38  accepted\n")
        .contains("    2  rejected\n")
        .contains("    5  cancelled, 4 of them in time\n")
        .contains("    0  lost\n")
        .contains("4 processes ended by deadly turns, of 9 at most\n")
        .contains("1 processes ended by themselves after the cluster had given them up")
        .contains("median 2.5 s, worst 4.0 s, 7 times: of its own sessions\n")
        .doesNotContain("silence")
        .doesNotContain("survivors")
        .endsWith("nothing was lost\n");
  }

  @Test
  void theTableOfADrillWithoutKillsHasNoTimesOfRecovery() {
    DrillResult calm =
        new DrillResult(
            Map.of(Fault.SAVEPOINT, 1),
            result(0, List.of()).http(),
            result(0, List.of()).verdict(),
            0,
            0,
            0,
            0,
            0,
            0,
            List.of(),
            new RecoveryTimes.Waits(NONE, NONE, NONE),
            Optional.empty(),
            true,
            60);

    assertThat(calm.table()).doesNotContain("kill -9").endsWith("nothing was lost\n");
  }

  @Test
  void theTableNamesWhatIsWrong() {
    DrillResult result = result(1, List.of("s/1: no committed reply"));

    assertThat(result.holds()).isFalse();
    assertThat(result.table())
        .contains("    1  lost\n")
        .contains("WRONG s/1: no committed reply\n")
        .endsWith("NOT as expected\n");
  }

  @Test
  void theTableShowsTheTierThatTokensCameFrom() {
    DrillResult result = tiered(new TierTally.Tokens(5_000, 20_000, 300, 40, 7, 9));

    assertThat(result.holds()).isTrue();
    assertThat(result.table())
        .contains("     5000  computed\n")
        .contains("    20000  on the device\n")
        .contains("      300  from host memory\n")
        .contains("       40  from disk\n")
        .contains("        7  from the remote folder\n")
        .contains(
            "        9  of these from disk and folder, by processes that took over after kill -9");
    assertThat(result(0, List.of()).table()).doesNotContain("by tier");
  }

  @Test
  void tiersThatServeNothingFailTheDrill() {
    assertThat(tiered(new TierTally.Tokens(5_000, 20_000, 0, 0, 0, 0)).holds()).isFalse();
  }

  @Test
  void nothingNeedsToComeFromTiersAfterAKill() {
    assertThat(tiered(new TierTally.Tokens(5_000, 20_000, 300, 40, 7, 0)).holds()).isTrue();
  }

  @Test
  void aDrillOfNoTimeIsRefused() {
    Cli.Result result = new Cli().run("drill", "--minutes", "0");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("--minutes is 0; it must be 1 to");
  }

  @Test
  void aWrongOptionOfTheJobIsRefusedBeforeAnythingStarts() {
    Cli.Result result = new Cli().run("drill", "--set", "gpu.memroy=2gb");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("gpu.memroy").contains("gpu.memory");
  }

  @Test
  void optionsOfTheJobReachTheDrill() {
    List<DrillOptions> run = new ArrayList<>();
    DrillCommand command =
        new DrillCommand(
            Cli.environment(InputStream.nullInputStream()),
            (build, options, plan, progress) -> {
              run.add(options);
              return result(0, List.of());
            });
    new CommandLine(command)
        .setOut(new PrintWriter(new StringWriter()))
        .execute("--tiers", "--set", "gpu.memory=2gb");

    assertThat(run).singleElement().isNotNull();
    assertThat(run.get(0).jobOptions()).containsExactly("gpu.memory=2gb");
    assertThat(run.get(0).tiered()).isTrue();
  }

  @Test
  void optionsOfTheSimulatedModelAreRefused() {
    Cli.Result result = new Cli().run("drill", "--model", "sim:step=20");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("a drill sets the options of sim itself; say --model sim");
  }

  @ParameterizedTest
  @CsvSource({"0,0,0,0,0", "1,0,0,0,1", "0,1,0,0,1", "0,0,1,0,1", "0,0,0,1,1"})
  void exitsWith1UnlessNothingIsLostDoubledChangedOrElseWrong(
      int lost, int doubled, int changed, int deadLetters, int code) {
    DrillResult result = result(lost, doubled, changed, deadLetters, List.of());
    StringWriter out = new StringWriter();
    List<Object> asked = new ArrayList<>();
    CommandLine line =
        new CommandLine(
            new DrillCommand(
                Cli.environment(InputStream.nullInputStream()),
                (build, options, plan, progress) -> {
                  asked.add(options.seed());
                  asked.add(plan.get());
                  asked.add(options.tiered());
                  return result;
                }));
    line.setOut(new PrintWriter(out));

    assertThat(line.execute("--minutes", "2", "--seed", "7", "--tiers")).isEqualTo(code);
    assertThat(asked.get(0)).isEqualTo(7L);
    assertThat(asked.get(1)).isInstanceOf(Fault.class);
    assertThat(asked.get(2)).isEqualTo(true);
    assertThat(out).hasToString(result.table());
    assertThat(out.toString().endsWith("nothing was lost\n")).isEqualTo(code == 0);
  }

  private static Samples samples(double... millis) {
    Samples samples = new Samples();
    Arrays.stream(millis).forEach(samples::add);
    return samples;
  }

  private static DrillResult result(int lost, List<String> findings) {
    return result(lost, 0, 0, 0, findings);
  }

  private static DrillResult result(
      int lost, int doubled, int changed, int deadLetters, List<String> findings) {
    return result(lost, doubled, changed, deadLetters, findings, Optional.empty());
  }

  private static DrillResult tiered(TierTally.Tokens tokens) {
    return result(0, 0, 0, 0, List.of(), Optional.of(tokens));
  }

  private static DrillResult result(
      int lost,
      int doubled,
      int changed,
      int deadLetters,
      List<String> findings,
      Optional<TierTally.Tokens> tokens) {
    return new DrillResult(
        Map.of(Fault.TASKMANAGER_KILLED, 3),
        new HttpVerifier.Verdict(
            30, 5, 0, 0, 0, samples(100, 200, 600, 800, 900, 9_000), List.of()),
        new Verifier.Verdict(
            40, 38 - lost, 2, 5, 4, lost, doubled, changed, 11, 12, 0, 0, findings),
        deadLetters,
        4,
        9,
        0,
        0,
        1,
        List.of(),
        new RecoveryTimes.Waits(samples(1, 2, 3, 2_500, 3_000, 3_500, 4_000), NONE, NONE),
        tokens,
        true,
        60);
  }
}
