package io.radixflow.lab.jmh;

import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The parameters of the cache that all benchmarks share. */
@State(Scope.Thread)
public class CacheState {
  @Param("16")
  public int pageTokens;

  @Param("lru")
  public String policy;
}
