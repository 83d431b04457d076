/** The part of seisgraph's graph that the compared operations select, under the same names. */
export const typeDefs = /* GraphQL */ `
  scalar DateTime

  type Query {
    sensors(first: Int): SensorConnection
    sensor(by: SensorLookup!): Sensor
    triggers(first: Int): TriggerConnection
    events(first: Int, filter: EventFilter): EventConnection
    networks: [Network!]
  }

  input SensorLookup {
    stationCode: String
  }

  input EventFilter {
    minMagnitude: Float
  }

  type SensorConnection {
    nodes: [Sensor!]!
    totalCount: Int
  }

  type Sensor {
    deviceId: String
    stationCode: String
    networkCode: String
    model: String
    firmwareVersion: String
    status: SensorStatus!
    location: SensorLocation
    latestHealthReport: HealthReport
  }

  enum SensorStatus {
    ONLINE
    OFFLINE
    UNKNOWN
  }

  type SensorLocation {
    latitude: Float!
    longitude: Float!
    masked: Boolean!
  }

  type HealthReport {
    timestamp: DateTime
    batteryVolts: Float
    temperatureC: Float
  }

  type TriggerConnection {
    nodes: [Trigger!]!
  }

  type Trigger {
    triggerId: String!
    stationCode: String
    startTime: DateTime
    status: String
    pgaHorizontal(unit: AccelerationUnit = MG): Float
    estimatedIntensity: Intensity
    sensor: Sensor
  }

  enum AccelerationUnit {
    MG
    PERCENT_G
  }

  type Intensity {
    roman: String!
    shaking: String!
  }

  type EventConnection {
    nodes: [Event!]!
  }

  type Event {
    originTime: DateTime
    magnitude: Float
    magnitudeType: String
    place: String
    sources: [Source!]!
    recordings(first: Int): [Recording!]
  }

  enum Source {
    PROJECT
    CATALOGUE
  }

  type Recording {
    distanceKm: Float
    trigger: Trigger!
  }

  type Network {
    name: String
    sensorCount: Int
  }
`;
