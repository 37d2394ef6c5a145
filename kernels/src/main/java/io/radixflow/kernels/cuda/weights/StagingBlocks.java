package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaEvent;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import java.nio.ByteBuffer;

/**
 * Sends blocks to the device through two pinned buffers. One is filled while the other is being
 * copied. Used by one thread while a model loads.
 */
public final class StagingBlocks implements WeightStream.Blocks, AutoCloseable {

  private static final int BYTES = 16 << 20;

  private final CudaStream stream;
  private final PinnedMemory[] buffers = new PinnedMemory[2];
  private final CudaEvent[] arrived = new CudaEvent[2];
  private DeviceMemory target;
  private int turn;

  public StagingBlocks(CudaContext context) {
    stream = context.newStream("weights");
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = context.allocatePinned(BYTES, "the staging of weights");
      arrived[i] = context.newEvent();
    }
  }

  /** Sets the target of the next blocks. */
  public StagingBlocks to(DeviceMemory memory) {
    target = memory;
    return this;
  }

  @Override
  public int capacity() {
    return BYTES;
  }

  @Override
  public ByteBuffer next() {
    turn = 1 - turn;
    arrived[turn].synchronize();
    return buffers[turn].buffer().clear();
  }

  @Override
  public void send(long offset, ByteBuffer block) {
    int length = block.limit();
    target.slice(offset, length).writeAsync(buffers[turn], length, stream);
    arrived[turn].record(stream);
  }

  /** Sends floats and waits until they have arrived. */
  void sendFloats(float[] values) {
    ByteBuffer block = next();
    block.asFloatBuffer().put(values);
    send(0, block.limit(values.length * Float.BYTES));
  }

  @Override
  public void close() {
    try {
      stream.synchronize();
    } finally {
      for (int i = 0; i < buffers.length; i++) {
        arrived[i].close();
        buffers[i].close();
      }
      stream.close();
    }
  }
}
