package io.radixflow.gateway.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.gateway.http.ApiException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ModelTextTest {

  /** A model that counts how often it is closed; its tokenizer cannot be used. */
  private static ServedModel broken(AtomicInteger closed) {
    return (ServedModel)
        Proxy.newProxyInstance(
            ServedModel.class.getClassLoader(),
            new Class<?>[] {ServedModel.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                closed.incrementAndGet();
                return null;
              }
              throw new IllegalArgumentException("the tokenizer is broken");
            });
  }

  @Test
  void aModelWhoseTextCannotBeUsedIsClosedAgain() {
    AtomicInteger closed = new AtomicInteger();
    try (ModelText text = new ModelText("broken", 0, name -> broken(closed))) {
      assertThatThrownBy(() -> text.encode("a", false)).isInstanceOf(ApiException.class);
      assertThat(closed).hasValue(1);
      assertThatThrownBy(() -> text.encode("a", false)).isInstanceOf(ApiException.class);
      assertThat(closed).hasValue(2);
    }
    assertThat(closed).as("nothing was left to close").hasValue(2);
  }
}
