package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.GpuMode;

/**
 * Cuts the attention of a step into tiles for the kernels of attention.cuh.
 *
 * <p>A tile is four integers: chunk, first packed row, first split of keys, splits. Chunks of few
 * packed rows (rows times heads of a group) go to the kernel whose warps share out keys, whose
 * tiles come first, the others to the one whose warps share out rows. Where the step's tiles would
 * leave the device idle, or one would take much longer than the rest, a chunk's keys are cut into
 * several tiles, as few splits each as fill the device once. The tiles of such a chunk leave
 * partials, which the last of their blocks folds.
 *
 * <p>All tiles of latent attention are of the first kind: its kernel has no other.
 *
 * <p>In deterministic mode a partial is one split, always of {@link #SPLIT_TOKENS} tokens from
 * position 0, so that tiles do not change results; in fast mode it is all splits of a tile.
 *
 * <p>Reused from step to step, without allocation; owned by the thread that submits.
 */
public final class AttentionPlanner {

  /** Keys of a split. A part of the arithmetic: another value is another numerics epoch. */
  static final int SPLIT_TOKENS = 128;

  /** Integers of a tile. */
  static final int TILE_INTS = 4;

  private static final int KEY_ROWS = 16;
  private static final int ROW_ROWS = 64;

  private final GpuMode mode;
  private final int group;
  private final int slots;
  private final boolean keysKernel;
  private final boolean latent;
  private final int splitTokens;
  private final int maxPartials;
  private final int[] tiles;
  private final int[] merge;
  private final int[] position;
  private final int[] rows;
  private int chunks;
  private int count;
  private int keyCount;
  private int partials;
  private int tileSplits;
  private int uncut;

  /**
   * The sizes that memory is set aside for.
   *
   * @param chunks chunks of a step
   * @param tiles tiles of a step, at least {@link #fewestTiles}
   * @param partials partials of a step
   */
  record Limits(int chunks, int tiles, int partials) {}

  /**
   * @param blocks blocks of the attention kernels that the device runs at once
   * @param keysKernel whether the device has the shared memory of {@link
   *     AttentionShape#keysKernel()}; else the rows kernel does all, with the same results
   */
  AttentionPlanner(
      AttentionShape shape, GpuMode mode, int blocks, boolean keysKernel, Limits limits) {
    this(shape, mode, blocks, keysKernel, limits, SPLIT_TOKENS);
  }

  AttentionPlanner(
      AttentionShape shape,
      GpuMode mode,
      int blocks,
      boolean keysKernel,
      Limits limits,
      int splitTokens) {
    this.mode = mode;
    this.keysKernel = keysKernel;
    latent = shape.latent();
    this.splitTokens = splitTokens;
    maxPartials = limits.partials();
    group = shape.group();
    slots = Math.max(1, blocks / shape.kvHeads());
    tiles = new int[TILE_INTS * limits.tiles()];
    merge = new int[2 * limits.chunks()];
    position = new int[limits.chunks()];
    rows = new int[limits.chunks()];
  }

  /**
   * The number of tiles that is enough for every step of up to {@code maxRows} rows in up to as
   * many chunks.
   */
  static int fewestTiles(AttentionShape shape, int maxRows) {
    return maxRows + maxRows * shape.group() / (shape.latent() ? KEY_ROWS : ROW_ROWS);
  }

  /** Begins a step. */
  void begin() {
    chunks = 0;
    count = 0;
    keyCount = 0;
    partials = 0;
  }

  /**
   * Adds the next chunk.
   *
   * @param position the position of its first row
   * @param rows its rows, at least one
   */
  void add(int position, int rows) {
    this.position[chunks] = position;
    this.rows[chunks] = rows;
    chunks++;
  }

  /**
   * Makes the tiles of the chunks added since {@link #begin}.
   *
   * @throws IllegalArgumentException if they are more than memory was set aside for
   */
  void plan() {
    uncut = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      uncut += rowTiles(chunk);
    }
    if (uncut * TILE_INTS > tiles.length) {
      throw new IllegalArgumentException(
          "a step needs " + uncut + " attention tiles of at most " + tiles.length / TILE_INTS);
    }
    tileSplits = splitsOfTile();
    cutChunks(true);
    keyCount = count;
    cutChunks(false);
  }

  /** Long chunks come first. The work at the end, while some blocks are idle, is then short. */
  private void cutChunks(boolean byKeys) {
    long splits = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      splits += splits(chunk);
    }
    for (int pass = 0; pass < 2; pass++) {
      for (int chunk = 0; chunk < chunks; chunk++) {
        boolean isLong = (long) splits(chunk) * chunks > splits;
        if (byKeys(chunk) == byKeys && isLong == (pass == 0)) {
          cut(chunk);
        }
      }
    }
  }

  private int splitsOfTile() {
    long work = 0;
    int longest = 1;
    for (int chunk = 0; chunk < chunks; chunk++) {
      work += (long) rowTiles(chunk) * splits(chunk);
      longest = Math.max(longest, splits(chunk));
    }
    if (uncut >= slots) {
      return (int) Math.min(longest, Math.max(1, (2 * work + slots - 1) / slots));
    }
    int least = 1;
    int enough = longest;
    while (least < enough) {
      int middle = (least + enough) >>> 1;
      if (tilesOf(middle) <= slots) {
        enough = middle;
      } else {
        least = middle + 1;
      }
    }
    return enough;
  }

  private long tilesOf(int splits) {
    long sum = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      sum += (long) rowTiles(chunk) * ceil(splits(chunk), splits);
    }
    return sum;
  }

  private void cut(int chunk) {
    int packed = rows[chunk] * group;
    int tileRows = tileRows(chunk);
    int rowTiles = rowTiles(chunk);
    uncut -= rowTiles;
    int partialsOfRow = ceil(splits(chunk), foldedSplits());
    long cutTiles = (long) rowTiles * ceil(splits(chunk), tileSplits);
    boolean whole =
        splits(chunk) <= tileSplits
            || (count + cutTiles + uncut) * TILE_INTS > tiles.length
            || partials + (long) packed * partialsOfRow > maxPartials;
    for (int first = (rowTiles - 1) * tileRows; first >= 0; first -= tileRows) {
      int keys = position[chunk] + (Math.min(first + tileRows, packed) - 1) / group + 1;
      int splits = ceil(keys, splitTokens);
      int step = whole ? splits : tileSplits;
      for (int split = 0; split < splits; split += step) {
        tile(chunk, first, split, Math.min(step, splits - split));
      }
    }
    merge[2 * chunk] = whole ? -1 : partials;
    merge[2 * chunk + 1] = partialsOfRow;
    partials += whole ? 0 : packed * partialsOfRow;
  }

  private void tile(int chunk, int packedRow, int split, int splits) {
    int at = TILE_INTS * count++;
    tiles[at] = chunk;
    tiles[at + 1] = packedRow;
    tiles[at + 2] = split;
    tiles[at + 3] = splits;
  }

  private boolean byKeys(int chunk) {
    return latent || keysKernel && rows[chunk] * group <= KEY_ROWS;
  }

  private int tileRows(int chunk) {
    return byKeys(chunk) ? KEY_ROWS : ROW_ROWS;
  }

  private int rowTiles(int chunk) {
    return ceil(rows[chunk] * group, tileRows(chunk));
  }

  private int splits(int chunk) {
    return ceil(position[chunk] + rows[chunk], splitTokens);
  }

  private static int ceil(int count, int of) {
    return (count + of - 1) / of;
  }

  /**
   * Returns whether the rows of a decode step are tiles of the kernel whose warps share out keys.
   */
  boolean decodesByKeys() {
    return latent || keysKernel && group <= KEY_ROWS;
  }

  /** Tiles of both kernels. */
  public int tiles() {
    return count;
  }

  /** Tiles of the kernel whose warps share out keys; they come first. */
  public int keyTiles() {
    return keyCount;
  }

  /** The tiles, {@link #TILE_INTS} integers each; only the first {@link #tiles()} are valid. */
  int[] tileInts() {
    return tiles;
  }

  /** For each chunk its first partial, or -1 for none, and the partials of a packed row. */
  int[] mergeInts() {
    return merge;
  }

  /** Partials of the step. */
  int partials() {
    return partials;
  }

  /** Keys of a split. */
  int splitTokens() {
    return splitTokens;
  }

  /** Splits that are folded into one partial. */
  int foldedSplits() {
    return mode == GpuMode.DETERMINISTIC ? 1 : tileSplits;
  }
}
