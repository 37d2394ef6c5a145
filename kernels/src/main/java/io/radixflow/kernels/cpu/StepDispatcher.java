package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a CPU backend that runs the steps in the order of submission and copies pages
 * between steps. Only one thread may submit.
 */
final class StepDispatcher implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StepDispatcher.class);

  /** How often a thread that waits for a ticket checks it before it parks: for about 20 µs. */
  private static final int TICKET_SPINS = 500;

  private static final int TICKETS = 4;

  /** About 50 µs. An engine that decodes usually submits its next step within this time. */
  private static final int SPINS = 1500;

  private final WorkerTeam team;
  private final Consumer<HostStepTicket> step;
  private final HostStepTicket[] tickets = new HostStepTicket[TICKETS];
  private final Thread thread;

  /** Copies of pages. Each one is made between two steps. */
  private final ConcurrentLinkedQueue<QueuedCopy> copies = new ConcurrentLinkedQueue<>();

  private volatile long submitted;
  private volatile boolean parked;
  private volatile boolean closed;

  /** A copy, and how many steps must run before it. */
  private record QueuedCopy(long after, OrderedTransfer transfer) {}

  /**
   * @param team the dispatcher's thread becomes its worker 0
   * @param step computes a step, including its tokens
   */
  StepDispatcher(int vocabSize, WorkerTeam team, Consumer<HostStepTicket> step) {
    this.team = team;
    this.step = step;
    for (int i = 0; i < TICKETS; i++) {
      tickets[i] = new HostStepTicket(vocabSize, TICKET_SPINS);
    }
    thread = new Thread(this::dispatch, "radixflow-cpu-0");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Queues a step.
   *
   * @throws IllegalStateException if too many steps are in flight, or the dispatcher is closed
   */
  StepTicket submit(Batch batch) {
    requireOpen();
    HostStepTicket ticket = tickets[(int) (submitted % TICKETS)];
    if (!ticket.isDone()) {
      throw new IllegalStateException(TICKETS + " steps are in flight already");
    }
    ticket.begin(batch);
    submitted = submitted + 1;
    wake();
    return ticket;
  }

  /** Queues a copy after the steps that were submitted so far. */
  void queue(OrderedTransfer transfer) {
    requireOpen();
    copies.add(new QueuedCopy(submitted, transfer));
    wake();
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the backend is closed");
    }
  }

  private void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  private void dispatch() {
    team.defer();
    long completed = 0;
    while (awaitStep(completed)) {
      runCopies(completed);
      HostStepTicket ticket = tickets[(int) (completed++ % TICKETS)];
      Throwable failure = null;
      try {
        step.accept(ticket);
      } catch (RuntimeException | Error e) {
        failure = e;
      }
      try {
        ticket.announce(ticket.end(failure));
      } catch (RuntimeException e) {
        LOG.error("A callback of a step failed", e);
      }
    }
  }

  /**
   * Makes the copies that are due before step {@code completed}. Returns whether there were any.
   */
  private boolean runCopies(long completed) {
    boolean any = false;
    for (QueuedCopy next; (next = copies.peek()) != null && next.after <= completed; any = true) {
      copies.poll().transfer.run();
    }
    return any;
  }

  /**
   * Spins, then parks, until there is a step (returns true) or the dispatcher is closed (returns
   * false).
   */
  private boolean awaitStep(long completed) {
    for (int spins = 0; submitted == completed; ) {
      if (runCopies(completed)) {
        spins = 0;
        continue;
      }
      if (closed) {
        return false;
      }
      if (++spins < SPINS) {
        Thread.onSpinWait();
        continue;
      }
      parked = true;
      if (submitted == completed && copies.isEmpty() && !closed) {
        LockSupport.park(this);
      }
      parked = false;
    }
    return true;
  }

  /** Stops the thread after the queued steps and copies. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    Uninterruptibly.await(thread::join);
  }
}
