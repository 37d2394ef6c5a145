package io.radixflow.kernels.cuda.driver;

import io.radixflow.kernels.cuda.driver.KernelTest.Order;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Runs each test of a {@link KernelTest} in both orders of the emulated device. */
public final class BothOrders implements InvocationInterceptor {

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext extensions)
      throws Throwable {
    invocation.proceed();
    KernelTest test = (KernelTest) extensions.getRequiredTestInstance();
    if (test.order == Order.FORWARD) {
      test.close();
      test.order = Order.REVERSE;
      test.open();
      again(test, method);
    }
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext extensions)
      throws Throwable {
    interceptTestMethod(invocation, method, extensions);
  }

  private static void again(KernelTest test, ReflectiveInvocationContext<Method> method)
      throws Throwable {
    method.getExecutable().setAccessible(true);
    try {
      method.getExecutable().invoke(test, method.getArguments().toArray());
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause();
      cause.addSuppressed(new Exception("CUDA threads ran backwards, streams lazily"));
      throw cause;
    }
  }
}
