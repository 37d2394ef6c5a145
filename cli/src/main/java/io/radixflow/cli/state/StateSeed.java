package io.radixflow.cli.state;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.jobs.config.LocalFiles;
import io.radixflow.operators.flink.state.SavedState;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnDetails;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.OperatorTransformation;
import org.apache.flink.state.api.SavepointWriter;
import org.apache.flink.state.api.functions.KeyedStateBootstrapFunction;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Writes a savepoint with made-up idle sessions of the model {@code sim}, for measurements. The
 * tokens of this model are bytes.
 *
 * @param sessions number of sessions; {@link #session} names them
 * @param turns turns per session
 * @param now time of their last events, milliseconds since the epoch
 */
public record StateSeed(int sessions, int turns, long now) {
  private static final int PAGE_TOKENS = 16;
  private static final int MESSAGE_CHARACTERS = 40;
  private static final int REPLY_CHARACTERS = 60;

  public static String session(long number) {
    return "idle-" + number;
  }

  /** Returns the tenant that a session belongs to. */
  public static String tenant(long session) {
    return "tenant-" + session % 100;
  }

  /**
   * @param directory directory of the savepoint, which must not exist
   * @param tokenizer fingerprint of the tokenizer of the turns' ids
   */
  public void write(Path directory, Path temporary, int maxParallelism, String tokenizer)
      throws Exception {
    StreamExecutionEnvironment environment = Savepoint.environment(temporary);
    SavepointWriter.newSavepoint(environment, new EmbeddedRocksDBStateBackend(), maxParallelism)
        .withOperator(
            OperatorIdentifier.forUid(SavedState.OPERATOR_UID),
            OperatorTransformation.bootstrapWith(environment.fromSequence(0, sessions - 1))
                .keyBy((KeySelector<Long, String>) StateSeed::session, Types.STRING)
                .transform(new Writer(turns, now, tokenizer)))
        .write(LocalFiles.name(directory));
    environment.execute("seed");
  }

  /** Returns the pages of a session after an engine without tiers has ended: they are lost. */
  private static SessionPages pages(int tokens, long now) {
    int committed = (tokens - 1) / PAGE_TOKENS * PAGE_TOKENS;
    TierTokens places = new TierTokens(committed, 0, 0, 0);
    return new SessionPages(
        ConversationEvent.MAIN_BRANCH, committed, places, now, now, "seed", null, null);
  }

  private static final class Writer extends KeyedStateBootstrapFunction<String, Long> {
    private static final long serialVersionUID = 1L;

    private final int count;
    private final long now;
    private final String tokenizer;
    private transient ValueState<SessionSlot> slot;
    private transient MapState<String, Long> branches;
    private transient MapState<Long, Turn> turns;
    private transient MapState<String, Long> turnNumbers;
    private transient MapState<Long, Long> turnIds;

    Writer(int count, long now, String tokenizer) {
      this.count = count;
      this.now = now;
      this.tokenizer = tokenizer;
    }

    @Override
    public void open(OpenContext context) {
      slot = getRuntimeContext().getState(SavedState.slot());
      branches = getRuntimeContext().getMapState(SavedState.branches());
      turns = getRuntimeContext().getMapState(SavedState.turns());
      turnNumbers = getRuntimeContext().getMapState(SavedState.turnNumbers());
      turnIds = getRuntimeContext().getMapState(SavedState.turnIds());
    }

    @Override
    public void processElement(Long number, Context context) throws Exception {
      Random random = new Random(number);
      int length = 0;
      String hash = ConversationHash.EMPTY;
      for (long id = 1; id <= count; id++) {
        String name = "t" + id;
        String message = text(random, MESSAGE_CHARACTERS);
        String reply = text(random, REPLY_CHARACTERS);
        hash = ConversationHash.with(hash, new Message("user", message));
        hash = ConversationHash.with(hash, new Message("assistant", reply));
        int[] ids = ids(random, MESSAGE_CHARACTERS + REPLY_CHARACTERS + 30);
        turns.put(
            id,
            new Turn(
                id,
                id - 1,
                (int) id - 1,
                name,
                name,
                List.of(new Message("user", message)),
                null,
                0,
                new Message("assistant", reply),
                "stop",
                new TurnDetails(
                    ConversationEvent.MAIN_BRANCH,
                    now,
                    now,
                    null,
                    new Usage(length, 0, ids.length),
                    null,
                    List.of(),
                    null),
                length,
                ids,
                tokenizer,
                "",
                0,
                Turn.ROOT,
                hash,
                false));
        turnNumbers.put(SavedState.byId(name), id);
        turnNumbers.put(SavedState.byHash(hash), id);
        length += ids.length;
        turnIds.put(StableHash.of64(tenant(number), name), now);
      }
      branches.put(ConversationEvent.MAIN_BRANCH, (long) count);
      slot.update(
          new SessionSlot(
              SessionSlot.Life.OPEN,
              true,
              tenant(number),
              "",
              null,
              count + 1,
              Map.of(),
              now,
              null,
              0,
              StateSeed.pages(length, now),
              false,
              false,
              false));
    }

    private static String text(Random random, int length) {
      StringBuilder text = new StringBuilder(length);
      for (int i = 0; i < length; i++) {
        text.append((char) ('a' + random.nextInt(26)));
      }
      return text.toString();
    }

    private static int[] ids(Random random, int length) {
      return random.ints(length, 'a', 'z').toArray();
    }
  }
}
