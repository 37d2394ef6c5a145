package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import jcuda.Pointer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Base of tests of kernels: each runs with CUDA threads forwards and, with lazy streams, backwards;
 * on a real device once. A test must close or let {@link #allocate} close what it allocates.
 */
@ExtendWith(BothOrders.class)
public abstract class KernelTest {

  /** The order in which an emulated device runs what may run in any order. */
  public enum Order {
    FORWARD,
    REVERSE,
    DEVICE
  }

  public Order order;

  public CudaContext context;
  public KernelModule module;
  public CudaStream stream;
  private final List<AutoCloseable> resources = new ArrayList<>();

  @BeforeEach
  public void open() {
    if (order == null) {
      EmulatedGpu.require();
      order = EmulatedGpu.isEmulated() ? Order.FORWARD : Order.DEVICE;
    }
    if (order != Order.DEVICE) {
      EmulatedDriver.reset();
      EmulatedDriver.setReverse(order == Order.REVERSE);
      EmulatedDriver.setLazyStreams(order == Order.REVERSE);
    }
    context = CudaContext.open(0);
    module = context.load(code());
    stream = closing(context.newStream("test"));
  }

  @AfterEach
  public void close() throws Exception {
    if (context == null) {
      return; // skipped
    }
    for (int i = resources.size() - 1; i >= 0; i--) {
      resources.get(i).close();
    }
    resources.clear();
    try {
      if (order != Order.DEVICE) {
        assertThat(EmulatedDriver.deviceAllocations()).as("allocations not freed").isZero();
      }
    } finally {
      context.close();
      context = null;
    }
  }

  /** The kernels to test. */
  public DeviceCode code() {
    return DeviceCode.load();
  }

  /** Gains of a norm: around 1. */
  public static float[] gains(int width, Random random) {
    float[] gains = new float[width];
    for (int i = 0; i < width; i++) {
      gains[i] = 1 + 0.3f * (float) random.nextGaussian();
    }
    return gains;
  }

  /** Closes the resource after the test. */
  public <T extends AutoCloseable> T closing(T resource) {
    resources.add(resource);
    return resource;
  }

  /** Device memory with undefined contents. */
  public DeviceMemory allocate(long bytes) {
    return closing(context.allocate(bytes, "a test"));
  }

  public DeviceMemory device(int... values) {
    DeviceMemory memory = allocate((long) values.length * Integer.BYTES);
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }

  public DeviceMemory device(float... values) {
    DeviceMemory memory = allocate((long) values.length * Float.BYTES);
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }

  /** bf16, each as its 16 bits. */
  public DeviceMemory device(short... values) {
    DeviceMemory memory = allocate((long) values.length * Short.BYTES);
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }

  public DeviceMemory device(byte... values) {
    DeviceMemory memory = allocate(values.length);
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }

  public byte[] bytes(DeviceMemory memory) {
    stream.synchronize();
    byte[] values = new byte[Math.toIntExact(memory.bytes())];
    memory.read(Pointer.to(values), values.length);
    return values;
  }

  /** Waits for the stream, then reads the start of the memory. */
  public short[] shorts(DeviceMemory memory, int count) {
    stream.synchronize();
    short[] values = new short[count];
    memory.read(Pointer.to(values), (long) count * Short.BYTES);
    return values;
  }

  public float[] floats(DeviceMemory memory, int count) {
    stream.synchronize();
    float[] values = new float[count];
    memory.read(Pointer.to(values), (long) count * Float.BYTES);
    return values;
  }

  public int[] ints(DeviceMemory memory, int count) {
    stream.synchronize();
    int[] values = new int[count];
    memory.read(Pointer.to(values), (long) count * Integer.BYTES);
    return values;
  }
}
