package io.radixflow.engine.request;

import java.util.List;

/** Lists of requests in order of arrival. */
public final class ArrivalOrder {
  private ArrivalOrder() {}

  /** Inserts a request; fast if it is one of the latest. */
  public static void insert(List<Request> list, Request request) {
    int i = list.size();
    while (i > 0 && list.get(i - 1).sequence > request.sequence) {
      i--;
    }
    list.add(i, request);
  }

  /** Removes a request; returns whether it was there. */
  public static boolean remove(List<Request> list, Request request) {
    int low = 0;
    int high = list.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long sequence = list.get(middle).sequence;
      if (sequence == request.sequence) {
        list.remove(middle);
        return true;
      }
      if (sequence < request.sequence) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }
}
