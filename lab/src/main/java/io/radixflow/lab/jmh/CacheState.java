package io.radixflow.lab.jmh;

import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What all benchmarks are told about the cache. */
@State(Scope.Thread)
public class CacheState {
  @Param("16")
  public int pageTokens;

  @Param("lru")
  public String policy;
}
