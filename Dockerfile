# The images of docker-compose.yml and of deploy/kubernetes:
#
#   docker build --target flink --tag radixflow-flink .
#   docker build --target gateway --tag radixflow-gateway .

FROM maven:3.9-eclipse-temurin-17 AS build
# g++ and pip's nvcc compile the code for GPUs; the images run without a GPU, too
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /radixflow
COPY . .
RUN mvn --batch-mode --no-transfer-progress -DskipTests -Dgpu.emulator.skip=true -Pcuda package

FROM flink:2.3.0-scala_2.12-java17 AS flink
COPY --from=build /radixflow/engine/target/radixflow-kernels-lib.jar /opt/flink/lib/
COPY --from=build /radixflow/jobs/target/radixflow-job.jar /opt/flink/usrlib/
COPY jobs/src/main/docker/log4j-console.properties /opt/flink/conf/
COPY jobs/src/main/docker/zoo.cfg /opt/flink/conf/
# a new volume takes the owner of the directory at its place
RUN mkdir --parents /opt/radixflow/state && chown --recursive flink:flink /opt/radixflow /opt/flink/usrlib

FROM flink:2.3.0-scala_2.12-java17 AS gateway
COPY --from=build /radixflow/cli/target/dist/lib /opt/radixflow/lib
USER flink
EXPOSE 8000
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=60", "-cp", "/opt/radixflow/lib/*", "io.radixflow.cli.Radixflow", "gateway"]
