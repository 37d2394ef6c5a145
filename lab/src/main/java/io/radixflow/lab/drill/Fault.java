package io.radixflow.lab.drill;

/** A fault that a drill causes in the cluster. */
public enum Fault {
  TASKMANAGER_KILLED("kill -9 of a TaskManager"),
  JOBMANAGER_KILLED("kill -9 of the JobManager"),
  BOTH_KILLED("kill -9 of JobManager and TaskManager"),
  BROKER_KILLED("kill -9 of the broker, 20 s down"),
  GATEWAY_KILLED("kill -9 of an HTTP gateway, 5 s down"),
  GATEWAYS_KILLED("kill -9 of both HTTP gateways, 5 s down"),
  TASKMANAGER_SUSPENDED("TaskManager stopped beyond its heartbeat, then continued"),
  SAVEPOINT("stop with savepoint, resume"),
  RESCALED("stop with savepoint, resume with 1, 3 or 2 subtasks"),
  RESUBMITTED("cancel, resubmit from the last checkpoint"),
  SECOND_JOB("a second job in the cluster, cancelled"),
  RESCALED_RUNNING("rescale while running, by adaptive scheduler"),
  DEADLY_TURN("a turn that ends every process that works on it"),
  TIERS_SWITCHED("host memory and disk emptied, detached, resized and attached"),
  PAGES_DAMAGED("bytes changed on disk and in the folder, then kill -9 of a TaskManager");

  private final String text;

  Fault(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
