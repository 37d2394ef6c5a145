package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Native methods get the ordinals of enums: C must have the same constants in the same order. */
class NativeOrderTest {

  private static final Path KERNELS = Path.of("src/main/java/io/radixflow/kernels/cpu");

  @ParameterizedTest
  @CsvSource({
    "kernel/CodeForm.java, CodeForm, kernels.h, code_kind, CODE_",
    "weights/BlockScales.java, Form, kernels.h, scale_kind, SCALE_",
    "attention/KvSlabs.java, Type, attention.h, kv_type, KV_",
    "kernel/CompiledKernels.java, Gate, rows.h, gate_kind, GATE_",
    "kernel/NativeWeights.java, Kind, weights.c, kind, ''",
    "../../../../../../../../models/src/main/java/io/radixflow/models/TensorType.java, TensorType,"
        + " repack.c, type, ''"
  })
  void constantsHaveTheSameOrderInJavaAndInC(
      String javaFile, String javaEnum, String file, String cEnum, String prefix)
      throws IOException {
    String java = withoutComments(KERNELS.resolve(javaFile));
    String c = withoutComments(Path.of("src/main/c", file));

    List<String> expected = constants(java, "enum " + javaEnum + " \\{([^;}]*)");

    assertThat(constants(c, "enum " + cEnum + " \\{([^}]*)\\};"))
        .isEqualTo(expected.stream().map(prefix::concat).toList());
  }

  private static String withoutComments(Path file) throws IOException {
    return Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//.*", "");
  }

  /** The names in the first group of the pattern, without their arguments. */
  private static List<String> constants(String source, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(source);
    assertThat(matcher.find()).as(pattern).isTrue();
    String names = matcher.group(1).replaceAll("\\([^)]*\\)", "");
    return Arrays.stream(names.split(",")).map(String::strip).filter(n -> !n.isEmpty()).toList();
  }
}
