package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class KernelWarmUpTest {

  private static final Set<String> NO_KERNELS = Set.of("name", "vectorBits");

  private final ScalarKernels scalar = new ScalarKernels();
  private final Map<String, Integer> calls = new TreeMap<>();
  private final Set<Object> tileRows = new TreeSet<>();

  private final Kernels counting =
      (Kernels)
          Proxy.newProxyInstance(
              Kernels.class.getClassLoader(),
              new Class<?>[] {Kernels.class},
              (proxy, method, arguments) -> {
                calls.merge(method.getName(), 1, Integer::sum);
                if (method.getName().equals("tile")) {
                  tileRows.add(arguments[0]);
                }
                return method.invoke(scalar, arguments);
              });

  @Test
  void everyKernelRunsEquallyOften() {
    KernelWarmUp.run(counting, KernelWarmUp.Use.ALL);

    assertThat(calls.keySet())
        .isEqualTo(
            Arrays.stream(Kernels.class.getDeclaredMethods())
                .filter(method -> Modifier.isAbstract(method.getModifiers()))
                .map(Method::getName)
                .filter(name -> !NO_KERNELS.contains(name))
                .collect(Collectors.toCollection(TreeSet::new)));
    int rounds = calls.get("add");
    assertThat(calls.values()).allMatch(count -> count % rounds == 0);
    assertThat(tileRows).containsExactly(1, 2, 4, 6, 8);
  }

  @Test
  void kernelsThatNativeCodeReplacesDoNotRun() {
    KernelWarmUp.run(counting, KernelWarmUp.Use.ROWS);

    assertThat(calls.keySet())
        .containsExactlyInAnyOrder(
            "sumOfSquares",
            "scale",
            "add",
            "swiglu",
            "geglu",
            "normalGlu",
            "clampedSwiglu",
            "max",
            "exponentials",
            "softCap");
  }

  @Test
  void floatWeightsHaveTheirTilesRunBesides() {
    KernelWarmUp.run(counting, KernelWarmUp.Use.FLOATS);

    assertThat(calls.keySet())
        .contains("tile", "widenHalf", "widenBfloat16", "unpackFloat8", "swiglu")
        .doesNotContain("unpackCodes", "codesTimesRow", "nibblesTimesRow", "scores", "values");
  }
}
