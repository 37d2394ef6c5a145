package io.radixflow.lab.jmh;

import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The number of sessions, besides the parameters of the cache. */
@State(Scope.Thread)
public class ChatState extends CacheState {
  @Param("500")
  public int sessions;

  final ChatWorkload workload() {
    return new ChatWorkload(sessions, pageTokens, policy);
  }
}
