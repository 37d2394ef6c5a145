package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.SettingsLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBConfigurableOptions;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.junit.jupiter.api.Test;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.RocksDB;

class JobConfigurationTest {

  @Test
  void aCheckpointFlushesAllStatesTogetherAndFilesOfTheStateAreBounded() throws Exception {
    RocksDB.loadLibrary();
    StateBackend backend =
        StateBackendLoader.fromApplicationOrConfigOrDefault(
            null,
            JobConfiguration.of(new SettingsLoader().load()),
            new Configuration(),
            getClass().getClassLoader(),
            null);

    assertThat(backend).isInstanceOf(EmbeddedRocksDBStateBackend.class);
    List<AutoCloseable> handles = new ArrayList<>();
    try (DBOptions options =
        ((EmbeddedRocksDBStateBackend) backend)
            .getRocksDBOptions()
            .createDBOptions(new DBOptions(), handles)) {
      assertThat(options.atomicFlush()).isTrue();
      assertThat(options.maxManifestFileSize()).isEqualTo(StateDatabaseOptions.MANIFEST_BYTES);
    }
    try (ColumnFamilyOptions options =
        ((EmbeddedRocksDBStateBackend) backend)
            .getRocksDBOptions()
            .createColumnOptions(new ColumnFamilyOptions(), handles)) {
      assertThat(options.ttl()).isEqualTo(86_400);
    }
    assertThat(handles).isEmpty();
  }

  @Test
  void theDatabaseLogsOnlyWarningsIntoSmallFilesUnlessTheUserSaysOtherwise() {
    SettingsLoader loader = new SettingsLoader();
    Configuration flink = JobConfiguration.of(loader.load());
    assertThat(flink.get(RocksDBConfigurableOptions.LOG_LEVEL)).isEqualTo(InfoLogLevel.WARN_LEVEL);
    assertThat(
            flink.get(RocksDBConfigurableOptions.LOG_MAX_FILE_SIZE).getBytes()
                * flink.get(RocksDBConfigurableOptions.LOG_FILE_NUM))
        .isEqualTo(2 << 20);

    loader.set(List.of("flink.state.backend.rocksdb.log.level=DEBUG_LEVEL"));
    assertThat(JobConfiguration.of(loader.load()).get(RocksDBConfigurableOptions.LOG_LEVEL))
        .isEqualTo(InfoLogLevel.DEBUG_LEVEL);
  }

  @Test
  void theIndexesOfStateLieInPartsUnlessTheUserSaysOtherwise() {
    SettingsLoader loader = new SettingsLoader();
    assertThat(JobConfiguration.of(loader.load()).get(RocksDBOptions.USE_PARTITIONED_INDEX_FILTERS))
        .isTrue();

    loader.set(List.of("flink.state.backend.rocksdb.memory.partitioned-index-filters=false"));
    assertThat(JobConfiguration.of(loader.load()).get(RocksDBOptions.USE_PARTITIONED_INDEX_FILTERS))
        .isFalse();
  }

  @Test
  void recordsLeaveTheirBuffersAtOnceUnlessTheUserSaysOtherwise() {
    SettingsLoader loader = new SettingsLoader();
    assertThat(JobConfiguration.of(loader.load()).get(ExecutionOptions.BUFFER_TIMEOUT)).isZero();

    loader.set(List.of("job.buffer-timeout=2ms"));
    assertThat(JobConfiguration.of(loader.load()).get(ExecutionOptions.BUFFER_TIMEOUT))
        .isEqualTo(Duration.ofMillis(2));
  }

  @Test
  void anotherOptionsFactoryMayBeNamed() {
    SettingsLoader loader =
        new SettingsLoader().set(List.of("flink.state.backend.rocksdb.options-factory=x.Y"));

    assertThat(JobConfiguration.of(loader.load()).get(RocksDBOptions.OPTIONS_FACTORY))
        .isEqualTo("x.Y");
  }
}
