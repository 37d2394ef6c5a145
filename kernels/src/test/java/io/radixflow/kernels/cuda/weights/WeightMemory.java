package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** A matrix as it lies on the device, in the heap. */
public final class WeightMemory implements WeightStream.Blocks {

  private static final int CAPACITY = 1 << 16;

  private final byte[] all;

  private WeightMemory(int bytes) {
    all = new byte[bytes];
  }

  /** A tensor in the format that its type has on the device. */
  public static byte[] packed(Tensor tensor) {
    WeightFormat format = WeightFormat.of(List.of(tensor));
    WeightMemory memory = new WeightMemory((int) format.bytes(tensor.rows(), tensor.columns()));
    new WeightStream(memory).send(WeightRowOrder.stacked(List.of(tensor)), format);
    return memory.all;
  }

  @Override
  public int capacity() {
    return CAPACITY;
  }

  @Override
  public ByteBuffer next() {
    byte[] old = new byte[CAPACITY];
    Arrays.fill(old, (byte) 0xff);
    return ByteBuffer.wrap(old).order(ByteOrder.nativeOrder());
  }

  @Override
  public void send(long offset, ByteBuffer block) {
    block.get(0, all, (int) offset, block.limit());
  }
}
