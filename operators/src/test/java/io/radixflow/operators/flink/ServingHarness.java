package io.radixflow.operators.flink;

import io.radixflow.engine.Patience;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.flink.erasure.Erasures.Erasure;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.state.SavedState;
import io.radixflow.operators.flink.turn.end.ConversationIndex;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Overflow;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import io.radixflow.protocol.record.kv.SlotState;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;

/** One subtask of the serving operator, driven by the test: mails run when it says so. */
public final class ServingHarness extends AbstractStreamOperatorTestHarness<Reply> {
  public static final int MAX_PARALLELISM = 128;

  /** Replies without a limit of their own end, so that turns are short beside small windows. */
  public static final ServingOptions LIMITED =
      new ServingOptions(
          ServingOptions.DEFAULT.limits(),
          new ServingOptions.Prompts(1_000, Overflow.DROP_OLDEST, 512),
          ServingOptions.DEFAULT.defaults(),
          ServingOptions.DEFAULT.retention(),
          ServingOptions.DEFAULT.cancelRetention(),
          ServingOptions.DEFAULT.namespaces(),
          ServingOptions.DEFAULT.modelChange());

  private final ScriptedEngine engine;
  private final List<OperatorEvent> sent;
  private long checkpoint;

  /** Makes the operator with a coordinator that only notes its events. */
  private static final class Factory extends AbstractStreamOperatorFactory<Reply>
      implements TwoInputStreamOperatorFactory<ConversationEvent, ControlEvent, Reply> {
    private static final long serialVersionUID = 1L;

    private final transient EngineFactory factory;
    private final transient ServingOptions options;
    private final transient LostReplies lost;
    private final transient List<OperatorEvent> sent;

    Factory(
        EngineFactory factory, ServingOptions options, LostReplies lost, List<OperatorEvent> sent) {
      this.factory = factory;
      this.options = options;
      this.lost = lost;
      this.sent = sent;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Reply>> T createStreamOperator(
        StreamOperatorParameters<Reply> parameters) {
      return (T) new ServingOperator(parameters, factory, options, lost, true, sent::add);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
      return ServingOperator.class;
    }
  }

  public ServingHarness(EngineFactory factory, ServingOptions options, int parallelism, int subtask)
      throws Exception {
    this(factory, null, options, null, parallelism, subtask, new ArrayList<>());
  }

  private ServingHarness(
      EngineFactory factory,
      ScriptedEngine engine,
      ServingOptions options,
      LostReplies lost,
      int parallelism,
      int subtask,
      List<OperatorEvent> sent)
      throws Exception {
    super(new Factory(factory, options, lost, sent), MAX_PARALLELISM, parallelism, subtask);
    this.engine = engine;
    this.sent = sent;
    KeySelector<ConversationEvent, String> key = ConversationEvent::session;
    config.setStatePartitioner(0, key);
    config.setStateKeySerializer(
        Types.STRING.createSerializer(executionConfig.getSerializerConfig()));
    config.serializeAllConfigs();
    executionConfig.getSerializerConfig().configure(noGenericTypes(), getClass().getClassLoader());
    setBackend(false);
    setProcessingTime(1_000);
  }

  private static Configuration noGenericTypes() {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    return configuration;
  }

  /** The subtask that a session belongs to. */
  public static int ownerOf(String session, int parallelism) {
    return KeyGroupRangeAssignment.assignKeyToParallelOperator(
        session, MAX_PARALLELISM, parallelism);
  }

  /** On an engine that the harness steps, not yet opened. */
  public static ServingHarness of(ScriptedEngine engine, ServingOptions options) throws Exception {
    return of(engine, options, 1, 0);
  }

  public static ServingHarness of(
      ScriptedEngine engine, ServingOptions options, int parallelism, int subtask)
      throws Exception {
    return of(engine, options, null, parallelism, subtask);
  }

  /** Creates a harness whose output may lose replies. */
  public static ServingHarness of(
      ScriptedEngine engine, ServingOptions options, LostReplies lost, int parallelism, int subtask)
      throws Exception {
    TestEngineFactory factory =
        TestEngineFactory.of(
            "scripted" + System.identityHashCode(engine),
            () -> new ServingEngine(engine, engine.model()));
    return new ServingHarness(
        factory, engine, options, lost, parallelism, subtask, new ArrayList<>());
  }

  /** Puts the subtask, not yet opened, on the TaskManager where another one of its job is. */
  public ServingHarness beside(ServingHarness other) throws ReflectiveOperationException {
    for (String shared : List.of("jobInfo", "sharedResources")) {
      Field field = MockEnvironment.class.getDeclaredField(shared);
      field.setAccessible(true);
      field.set(getEnvironment(), field.get(other.getEnvironment()));
    }
    return this;
  }

  /** On a fresh engine with replies of six letters, opened. */
  public static ServingHarness opened(ServingOptions options) throws Exception {
    ServingHarness harness = of(new ScriptedEngine(4096, 6), options);
    harness.open();
    return harness;
  }

  public static ServingHarness opened() throws Exception {
    return opened(ServingOptions.DEFAULT);
  }

  public ServingHarness setBackend(boolean rocksDb) {
    setStateBackend(rocksDb ? new EmbeddedRocksDBStateBackend(true) : new HashMapStateBackend());
    return this;
  }

  public ScriptedEngine engine() {
    return engine;
  }

  public ServingHarness send(Events... events) throws Exception {
    for (Events event : events) {
      send(event.event());
    }
    return this;
  }

  public ServingHarness send(ConversationEvent event) throws Exception {
    serving().setKeyContextElement1(new StreamRecord<>(event));
    serving().processElement1(new StreamRecord<>(event));
    return this;
  }

  public ServingHarness control(String kind, String tenant, String value) throws Exception {
    serving()
        .processElement2(
            new StreamRecord<>(
                new ControlEvent(
                    ControlKind.valueOf(kind.toUpperCase(Locale.ROOT)), tenant, value)));
    return this;
  }

  /** Returns the erasures that the subtask has sent to its coordinator, for all subtasks. */
  public List<Erasure> erasuresSent() {
    return sent.stream().filter(Erasure.class::isInstance).map(Erasure.class::cast).toList();
  }

  /** Erasures that the subtask waits for. */
  public int erasuresPending() {
    return serving().subtask().erasuresPending();
  }

  /** Open sessions in a state. */
  public int sessions(SlotState state) {
    return serving().subtask().sessions(state);
  }

  /** Lets the engine make prompts and then {@code tokens} tokens a request, and reads them. */
  public ServingHarness generate(int tokens) throws Exception {
    for (int i = 0; i <= tokens; i++) {
      engine.step();
      runMails();
    }
    return this;
  }

  /** Runs until nothing is left to do. */
  public ServingHarness settle() throws Exception {
    do {
      runMails();
    } while (engine.step());
    runMails();
    return this;
  }

  /** Runs the mails that are there. */
  public void runMails() throws Exception {
    while (runAMail()) {
      // the mail may have brought another
    }
  }

  /** Runs one mail, if there is one. */
  public boolean runAMail() throws Exception {
    Optional<Mail> mail = getTaskMailbox().tryTake(Integer.MIN_VALUE);
    if (mail.isPresent()) {
      mail.get().run();
    }
    return mail.isPresent();
  }

  /** Runs the next mail, whenever an engine that runs by itself sends it. */
  public void awaitMail() {
    Patience.await().pollInSameThread().until(this::runAMail);
  }

  /** Sends an event and runs mails until its reply is out. */
  public Reply ask(Events event) throws Exception {
    ConversationEvent asked = event.event();
    send(asked);
    while (replies().stream().noneMatch(reply -> asked.turn().equals(reply.turn()))) {
      awaitMail();
    }
    return reply(asked.turn());
  }

  public OperatorSubtaskState snapshot() throws Exception {
    checkpoint++;
    return snapshot(checkpoint, checkpoint);
  }

  public ServingHarness restore(OperatorSubtaskState state, int oldParallelism) throws Exception {
    var task = getEnvironment().getTaskInfo();
    initializeState(
        repartitionOperatorState(
            state,
            MAX_PARALLELISM,
            oldParallelism,
            task.getNumberOfParallelSubtasks(),
            task.getIndexOfThisSubtask()));
    open();
    return this;
  }

  public List<Reply> replies() {
    return extractOutputValues();
  }

  /** The reply to a turn. */
  public Reply reply(String turn) {
    List<Reply> found = replies().stream().filter(r -> turn.equals(r.turn())).toList();
    if (found.size() != 1) {
      throw new AssertionError("turn " + turn + " has " + found.size() + " replies");
    }
    return found.get(0);
  }

  /** Replies as {@code turn:reason}, in order. */
  public List<String> endings() {
    return replies().stream().map(r -> r.turn() + ":" + r.finishReason()).toList();
  }

  public List<ReplyDelta> deltas() {
    return steps().stream().flatMap(List::stream).toList();
  }

  /** Deltas as they were emitted: those of a step of the engine together. */
  public List<List<ReplyDelta>> steps() {
    return sideOutput(ReplyOutput.DELTAS);
  }

  /** The text that deltas of a turn make. */
  public String streamed(String turn) {
    return deltas().stream()
        .filter(delta -> delta.turn().equals(turn))
        .map(ReplyDelta::text)
        .collect(Collectors.joining());
  }

  public List<ConversationEntry> indexed() {
    return sideOutput(ConversationIndex.ENTRIES);
  }

  public List<RejectedEvent> rejectedEvents() {
    return sideOutput(ReplyOutput.REJECTED);
  }

  private <T> List<T> sideOutput(OutputTag<T> tag) {
    var records = getSideOutput(tag);
    return records == null ? List.of() : records.stream().map(StreamRecord::getValue).toList();
  }

  public int numKeyedStateEntries() {
    var backend = (HeapKeyedStateBackend<?>) serving().getKeyedStateBackend();
    return backend.numKeyValueStateEntries();
  }

  /** Turns that a session's history holds, of all branches. */
  public int turnsKept(String session) throws Exception {
    MapState<Long, Turn> turns =
        state(
            session, new MapStateDescriptor<>("turns", Types.LONG, TypeInformation.of(Turn.class)));
    int count = 0;
    for (Long id : turns.keys()) {
      count += id == Turn.ROOT ? 0 : 1;
    }
    return count;
  }

  /** Returns where a session's pages were by the state, or null. */
  public SessionPages pages(String session) throws Exception {
    SessionSlot slot = slotState(session).value();
    return slot == null ? null : slot.pages();
  }

  /** Makes the state say something else. */
  public void putPages(String session, SessionPages pages) throws Exception {
    ValueState<SessionSlot> slot = slotState(session);
    slot.update(slot.value().located(pages));
  }

  /** The state's slot of a session, to be read or written. */
  public ValueState<SessionSlot> slotState(String session) throws Exception {
    return state(session, SavedState.slot());
  }

  /** Returns a keyed state of a session, to be read or written. */
  public <S extends State> S state(String session, StateDescriptor<S, ?> descriptor)
      throws Exception {
    serving().setCurrentKey(session);
    return serving()
        .getPartitionedState(VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }

  public void endInput(int input) throws Exception {
    serving().endInput(input);
  }

  public void prepareSnapshot(long checkpoint) throws Exception {
    serving().prepareSnapshotPreBarrier(checkpoint);
  }

  public void abortCheckpoint(long checkpoint) throws Exception {
    serving().notifyCheckpointAborted(checkpoint);
  }

  /** Gives the operator an event of its coordinator. */
  public void receive(OperatorEvent event) throws Exception {
    serving().handleOperatorEvent(event);
  }

  private ServingOperator serving() {
    return (ServingOperator) operator;
  }
}
