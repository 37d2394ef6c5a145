package io.radixflow.engine.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.schedule.CrashRecord.Suspect;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The suspects of a journal that a process did not close. */
class CrashRecordTest {
  private static final long DAY = 86_400_000;

  @TempDir Path directory;

  private final List<CrashJournal> abandoned = new ArrayList<>();
  private long now = 1_000;

  /** Returns a journal as the next process has it; the one before was not closed. */
  private CrashJournal afterDeath() {
    CrashJournal journal = CrashJournal.open(directory.resolve("journal"), 4, () -> now);
    abandoned.add(journal);
    return journal;
  }

  @AfterEach
  void close() {
    abandoned.forEach(CrashJournal::close);
  }

  @Test
  void noRequestIsSuspectAfterAnOrderlyEnd() {
    try (CrashJournal journal = CrashJournal.open(directory.resolve("journal"), 4, () -> now)) {
      journal.begin(0, 7, false);
    }
    assertThat(directory).isEmptyDirectory();
    assertThat(afterDeath().suspect(7)).isNull();
  }

  @Test
  void aRequestThatWasInFlightAloneIsBlamed() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    journal.begin(1, 8, false);
    journal.step(0, 5, 21);
    journal.end(1);
    assertThat(afterDeath().suspect(7)).isEqualTo(new Suspect(1, 21, now));
  }

  @Test
  void severalRequestsInFlightAreAllSuspectAndNoneIsBlamed() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    journal.begin(3, 8, false);
    journal.step(3, 0, 16);
    CrashJournal next = afterDeath();
    assertThat(next.suspect(7)).isEqualTo(new Suspect(0, 0, now));
    assertThat(next.suspect(8)).isEqualTo(new Suspect(0, 16, now));
  }

  @Test
  void theOnlySuspectInFlightIsBlamed() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    journal.begin(1, 8, true);
    CrashJournal next = afterDeath();
    assertThat(next.suspect(7).deaths()).isZero();
    assertThat(next.suspect(8).deaths()).isEqualTo(1);
  }

  @Test
  void deathsAtTheSamePositionAddUp() {
    for (int death = 1; death <= 3; death++) {
      CrashJournal journal = afterDeath();
      journal.begin(0, 7, death > 1);
      journal.step(0, 40, 41 + death);
      assertThat(afterDeath().suspect(7)).isEqualTo(new Suspect(death, 41 + death, now));
    }
  }

  @Test
  void aRequestThatGotBeyondTheDeathStartsWithoutDeaths() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    journal.step(0, 40, 42);
    CrashJournal second = afterDeath();
    second.begin(0, 7, true);
    second.step(0, 42, 43);
    assertThat(afterDeath().suspect(7)).isEqualTo(new Suspect(1, 43, now));
  }

  @Test
  void suspectsThatDidNotRunStaySuspect() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    journal.begin(1, 8, false);
    CrashJournal second = afterDeath();
    second.begin(0, 7, true);
    CrashJournal third = afterDeath();
    assertThat(third.suspect(7).deaths()).isEqualTo(1);
    assertThat(third.suspect(8).deaths()).isZero();
    third.acquit(8);
    assertThat(afterDeath().suspect(8)).isNull();
  }

  @Test
  void suspectsThatDoNotComeAgainAreForgottenAfterADay() {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    afterDeath();
    now += DAY - 1;
    assertThat(afterDeath().suspect(7)).isNotNull();
    now += 2;
    assertThat(afterDeath().suspect(7)).isNull();
  }

  @Test
  void anEntryWhoseWriterDiedIsEmpty() throws IOException {
    CrashJournal journal = afterDeath();
    journal.begin(0, 7, false);
    ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("journal")));
    content.putLong(CrashRecord.at(0) + CrashRecord.CHECK, 0);
    assertThat(CrashRecord.suspects(content, now)).isEmpty();
  }

  @Test
  void aFileThatIsNoJournalIsReplaced() throws IOException {
    Path file = directory.resolve("journal");
    for (int size : new int[] {0, 1, 31, 32, 5_000}) {
      Files.write(file, new byte[size]);
      assertThat(afterDeath().suspect(0)).isNull();
    }
    try (var large =
        java.nio.channels.FileChannel.open(file, java.nio.file.StandardOpenOption.WRITE)) {
      large.write(ByteBuffer.allocate(1), 1L << 33);
    }
    assertThat(afterDeath().suspect(0)).isNull();
    assertThat(Files.size(file)).isLessThan(1 << 16);
  }

  @Test
  void theJournalWorksInMemoryIfItsFileCannotBeCreated() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    try (CrashJournal journal = CrashJournal.open(file.resolve("journal"), 4, () -> now)) {
      journal.begin(0, 7, false);
      journal.step(0, 1, 2);
      journal.end(0);
      assertThat(journal.suspect(7)).isNull();
    }
  }

  @Property(tries = 300)
  void bytesFromAnywhereAreReadWithinBounds(
      @ForAll @Size(max = 400) byte[] noise, @ForAll @IntRange(max = 200) int at) {
    ByteBuffer content = CrashRecord.fresh(4, Map.of(1L, new Suspect(1, 2, 3)));
    for (int i = 0; i < noise.length; i++) {
      content.put(at + i, noise[i]);
    }
    Map<Long, Suspect> suspects = CrashRecord.suspects(content, 4);
    assertThat(suspects).hasSizeLessThanOrEqualTo(CrashRecord.MAX_SUSPECTS);
    assertThat(suspects.values()).allMatch(s -> s.deaths() >= 0 && s.reached() >= 0);
  }
}
