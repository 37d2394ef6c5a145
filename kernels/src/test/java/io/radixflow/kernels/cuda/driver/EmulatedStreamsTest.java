package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import jcuda.Pointer;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Streams, events and graphs keep the orders that were asked for, and no other. */
class EmulatedStreamsTest extends ProbeTest {

  private static final int COUNT = 5000;

  @Test
  void anEventOrdersTwoStreams() {
    CudaStream other = closing(context.newStream("other"));
    CudaEvent filled = closing(context.newEvent());
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    fill(memory, 3).on(other);
    filled.record(other);
    stream.waitFor(filled);
    add(memory, memory).on(stream);
    assertThat(floats(memory, COUNT)).containsOnly(6);
  }

  @Test
  void withoutAnEventALazyStreamIsLate() {
    EmulatedDriver.setLazyStreams(true);
    CudaStream other = closing(context.newStream("other"));
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    fill(memory, 3).on(other);
    add(memory, memory).on(stream);
    for (float value : floats(memory, COUNT)) {
      assertThat(value).isNaN();
    }
  }

  @Test
  void aLazyCopyToTheHostRunsWhenAThreadWaitsForIt() {
    EmulatedDriver.setLazyStreams(true);
    PinnedMemory host = closing(context.allocatePinned(COUNT * Float.BYTES, "a test"));
    FloatBuffer seen = host.buffer().asFloatBuffer();
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    CudaEvent copied = closing(context.newEvent());
    fill(memory, 3).on(stream);
    memory.readAsync(host, memory.bytes(), stream);
    copied.record(stream);
    assertThat(seen.get(COUNT - 1)).isNaN();
    copied.synchronize();
    assertThat(seen.get(COUNT - 1)).isEqualTo(3);
  }

  @Test
  void anEventThatIsPolledIsDoneInTheEnd() {
    CudaEvent done = closing(context.newEvent());
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    fill(memory, 3).on(stream);
    done.record(stream);
    Awaitility.await().atMost(Duration.ofSeconds(60)).pollInSameThread().until(done::isDone);
    assertThat(floats(memory, 1)).containsExactly(3);
  }

  @Test
  void aTimedEventMeasuresTheWorkBetween() {
    CudaEvent from = closing(context.newTimedEvent());
    CudaEvent to = closing(context.newTimedEvent());
    from.record(stream);
    fill(allocate(COUNT * Float.BYTES), 1).on(stream);
    to.record(stream);
    to.synchronize();
    assertThat(to.millisecondsSince(from)).isNotNegative();
  }

  @Test
  void aGraphReplaysWhatWasCapturedWithItsParameters() {
    DeviceMemory sum = device(new float[COUNT]);
    DeviceMemory step = device(new float[COUNT]);
    CudaStream copies = closing(context.newStream("copies"));
    CudaEvent forked = closing(context.newEvent());
    CudaEvent joined = closing(context.newEvent());
    KernelLaunch fill = fill(step, 2);
    CudaGraph graph =
        closing(
            stream.capture(
                () -> {
                  fill.on(stream);
                  forked.record(stream);
                  copies.waitFor(forked);
                  add(sum, step).on(copies);
                  joined.record(copies);
                  stream.waitFor(joined);
                }));
    fill.setInteger(2, Float.floatToRawIntBits(100));
    for (int i = 0; i < 5; i++) {
      graph.launch(stream);
    }
    assertThat(floats(sum, COUNT)).containsOnly(10);
  }

  @Test
  void allocatingWhileCapturingIsRefusedAndTheStreamWorksAfterwards() {
    assertThatThrownBy(() -> stream.capture(() -> context.allocate(16, "too late")))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("capturing");
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    fill(memory, 3).on(stream);
    assertThat(floats(memory, 1)).containsExactly(3);
  }

  @Test
  void waitingForACapturingStreamIsRefused() {
    assertThatThrownBy(() -> stream.capture(stream::synchronize))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("stream test");
  }

  @Test
  void aCopyFromPageableMemoryIsOrderedWithNoStreamBeforeTheLegacyStreamIsWaitedFor() {
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    float[] ones = new float[COUNT];
    Arrays.fill(ones, 1);
    memory.stage(Pointer.to(ones), memory.bytes());
    add(memory, memory).on(stream);
    stream.synchronize();
    JCudaDriver.cuStreamSynchronize(new CUstream());
    assertThat(floats(memory, COUNT)).as("the copy overtook the kernel").containsOnly(1);
  }

  @Test
  void aKernelThatIsLaunchedAfterAWriteSeesIt() {
    DeviceMemory memory = allocate(COUNT * Float.BYTES);
    float[] ones = new float[COUNT];
    Arrays.fill(ones, 1);
    memory.write(Pointer.to(ones), memory.bytes());
    add(memory, memory).on(stream);
    assertThat(floats(memory, COUNT)).containsOnly(2);
  }

  @Test
  void waitingForTheContextSpoilsACaptureOfAnotherThread() {
    CudaStream other = closing(context.newStream("other"));
    assertThatThrownBy(
            () ->
                other.capture(
                    () ->
                        CompletableFuture.runAsync(
                                () -> {
                                  context.bind();
                                  JCudaDriver.cuCtxSynchronize();
                                })
                            .join()))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  }

  @Test
  void anEngineWaitsForItsStreamsWhileAnotherOneCaptures() {
    CudaGraph graph =
        closing(
            stream.capture(
                () ->
                    CompletableFuture.runAsync(
                            () -> {
                              try (CudaContext second = CudaContext.open(0)) {
                                second.newStream("second");
                                second.synchronize();
                              }
                            })
                        .join()));
    graph.launch(stream);
    stream.synchronize();
  }

  private KernelLaunch fill(DeviceMemory memory, float value) {
    return module
        .launch("probe_fill")
        .pointer(memory)
        .integer(COUNT)
        .real(value)
        .grid((COUNT + 255) / 256)
        .block(256);
  }

  private KernelLaunch add(DeviceMemory to, DeviceMemory from) {
    return module
        .launch("probe_add")
        .pointer(to)
        .pointer(from)
        .integer(COUNT)
        .grid((COUNT + 255) / 256)
        .block(256);
  }
}
