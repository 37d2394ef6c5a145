package io.radixflow.operators.fair;

/**
 * A tenant's share of something that tenants use together: its weight, and how much service it has
 * had. {@link Shares} changes it.
 */
public class Share implements Comparable<Share> {
  public final String name;
  public final int weight;

  /** Service so far over weight; comparable among tenants. */
  public long service;

  /** Number of the event when work of it last began, or when it began to wait. */
  private long lastEvent;

  protected Share(String name, int weight) {
    this.name = name;
    this.weight = weight;
  }

  void event(long number) {
    lastEvent = number;
  }

  /** Orders by service, the least first, then by the longest wait. */
  @Override
  public int compareTo(Share other) {
    return service != other.service
        ? Long.compare(service, other.service)
        : Long.compare(lastEvent, other.lastEvent);
  }
}
