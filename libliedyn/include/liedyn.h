/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/**
 * The kernels of liedyn_ros as a C library: kinematics and dynamics of robots without Python.
 *
 * All memory is the caller's: no function allocates, writes a global or aborts. A model is shared by
 * any number of threads; a work area belongs to one thread. Arrays are contiguous doubles in C
 * order, SI units; twists are (angular, linear), wrenches (moment, force). q (nq), v, a, tau (nv) are
 * laid out as the model in Python says. external (B, 6) are wrenches on bodies in their frames, about
 * their origins; NULL means none. Every function returns LIEDYN_OK or another code; after a code the
 * arrays for results have no meaning. Results must not share memory with inputs.
 */

#ifndef LIEDYN_H_
#define LIEDYN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIEDYN_VERSION_MAJOR 0
#define LIEDYN_VERSION_MINOR 1
#define LIEDYN_VERSION_PATCH 0
#define LIEDYN_MAX_ORDER 30 /* of time derivatives */
#define LIEDYN_ALIGNMENT 64 /* bytes, of the memory of model and work area */

enum liedyn_code {
  LIEDYN_OK = 0,
  LIEDYN_NOT_FINITE = 1, /* an input has a NaN or an infinity */
  LIEDYN_NOT_UNIT = 2,   /* a quaternion in q whose norm is off 1 by over 1e-6 */
  LIEDYN_TOO_LARGE = 3,  /* inputs so large that a result is not finite */
  LIEDYN_SINGULAR = 4,   /* a coordinate with a given force that moves no inertia */
  LIEDYN_OVERLAP = 5,    /* a result shares memory with an input */
  LIEDYN_NULL = 6,       /* NULL where an array is needed */
  LIEDYN_RANGE = 7,      /* an order, a frame, a coordinate or axes that are not there */
  LIEDYN_WORK_AREA = 8,  /* a work area not prepared for this model, or too small */
  LIEDYN_UNALIGNED = 9,  /* memory whose address is no multiple of LIEDYN_ALIGNMENT */
  LIEDYN_UNKNOWN = 10,   /* a name that is not in the model */
  LIEDYN_FILE = 11,      /* a file that cannot be read, or is larger than the memory for it */
  LIEDYN_NO_MODEL = 12,  /* the bytes are not those of a model file */
  LIEDYN_FORMAT = 13,    /* a model file of another format or layout: write it again */
  LIEDYN_DAMAGED = 14,   /* a model file whose length, checksum or content is wrong */
  LIEDYN_PROCESSOR = 15, /* a processor below x86-64-v2 */
  LIEDYN_KIND = 16,      /* a model file of another kind of machine: tree, platform or loops */
  LIEDYN_NOT_POSE = 17,  /* a matrix that is no pose within 1e-6 */
  LIEDYN_NOT_REACHED = 18,   /* a pose that a rod does not reach */
  LIEDYN_NOT_CONVERGED = 19, /* a solver that stopped elsewhere; its result says how */
  LIEDYN_NOT_PROVED = 20,    /* a certificate that proves nothing */
  LIEDYN_ABSENT = 21,        /* no masses in the file, or legs without such a function */
  LIEDYN_OPEN = 22,          /* a state that is not on the constraints within 1e-6 */
  LIEDYN_UNMOVED = 23,       /* actuators or known coordinates that do not decide the motion */
  LIEDYN_BROKEN = 24,        /* a motion that the constraints do not allow */
  LIEDYN_DEPENDENT = 25,     /* constraints that become dependent: there are no derivatives */
  LIEDYN_BLOCKED = 26,       /* measured joints where no motion of the loops leads */
  LIEDYN_DISAGREEING = 27,   /* redundant measured joints that disagree by over 0.05 rad or m */
  LIEDYN_INTERNAL = 28,      /* a fault of this library */
  LIEDYN_LATE = 29,          /* a sample whose time is not after the last one */
  LIEDYN_NOT_STARTED = 30    /* a tracker that was not given a home pose */
};

enum liedyn_axes { LIEDYN_WORLD = 0, LIEDYN_LOCAL = 1, LIEDYN_LOCAL_WORLD_ALIGNED = 2 };

/** The constants of a machine: a view of the content of a model file, which stays as it is. */
typedef struct liedyn_model liedyn_model;

/** Return what a code means, in one line. */
const char *liedyn_message(int code);

/**
 * Write into text (size bytes) why the last call on a work area was refused: the argument, the entry
 * and the value. Returns the code of that call.
 */
int liedyn_explain(const liedyn_model *model, const void *work, char *text, size_t size);

/** Return the kernels that this processor runs: "x86_64_v2", "x86_64_v3", "aarch64", or NULL. */
const char *liedyn_processor(void);

/* ---- Model and work area: before the loop ---------------------------------------------------- */

/** Write the size of a file, in bytes. */
int liedyn_file_size(const char *path, size_t *bytes);

/** Read a file into memory (bytes, aligned) and open it as a model. The memory stays the caller's. */
int liedyn_load(const char *path, void *memory, size_t bytes, const liedyn_model **model);

/** Open the content of a model file in aligned memory, and check it. It has to outlive the model. */
int liedyn_open(const void *content, size_t bytes, const liedyn_model **model);

int liedyn_nq(const liedyn_model *model);     /* numbers in q */
int liedyn_nv(const liedyn_model *model);     /* numbers in v, a and tau */
int liedyn_bodies(const liedyn_model *model); /* bodies: rows of external, and the first frames */
int liedyn_frames(const liedyn_model *model);
int liedyn_joints(const liedyn_model *model);

/** Return the name of a joint, a velocity coordinate or a frame, or NULL out of range. */
const char *liedyn_joint_name(const liedyn_model *model, int joint);
const char *liedyn_coordinate_name(const liedyn_model *model, int coordinate);
const char *liedyn_frame_name(const liedyn_model *model, int frame);

/** Where the coordinates of a joint are: q[q] to q[q + nq - 1], v[v] to v[v + nv - 1]. */
typedef struct { int q, nq, v, nv; } liedyn_place;
int liedyn_find_joint(const liedyn_model *model, const char *name, liedyn_place *place);
/** Write the number of a frame; bodies have the first ones. A joint's name is that of its body. */
int liedyn_find_frame(const liedyn_model *model, const char *name, int *frame);

/** Write the configuration (nq) of zeros and unit quaternions. */
int liedyn_neutral(const liedyn_model *model, double *q);

/** Return the size of a work area for time derivatives to an order, in bytes; 0 for a wrong order. */
size_t liedyn_work(const liedyn_model *model, int order);
/** Prepare aligned memory as a work area. One a thread. */
int liedyn_init(const liedyn_model *model, int order, void *work, size_t bytes);

/* ---- Dynamics: in the loop ------------------------------------------------------------------- */

/** tau of q, v, a. A NULL for a is zero. */
int liedyn_inverse(const liedyn_model *model, void *work, const double *q, const double *v,
                   const double *a, const double *external, double *tau);
/** b(q, v): the joint forces of a motion without acceleration. */
int liedyn_bias(const liedyn_model *model, void *work, const double *q, const double *v,
                const double *external, double *tau);
/** The joint forces that hold the machine at rest. */
int liedyn_gravity(const liedyn_model *model, void *work, const double *q, double *tau);
/** a of q, v, tau. */
int liedyn_forward(const liedyn_model *model, void *work, const double *q, const double *v,
                   const double *tau, const double *external, double *a);
/**
 * All of a and tau (nv), completed in their place: a is given where prescribed (nv) is not 0, tau
 * elsewhere. Entries that are not given are not read.
 */
int liedyn_hybrid(const liedyn_model *model, void *work, const double *q, const double *v,
                  const unsigned char *prescribed, double *a, double *tau, const double *external);

/** tau and its time derivatives (order + 1, nv) of a and its own (order + 1, nv). */
int liedyn_inverse_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                               const double *v, const double *a, const double *external, double *tau);
/** a and its time derivatives (order + 1, nv) of tau and its own; external is (order + 1, B, 6). */
int liedyn_forward_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                               const double *v, const double *tau, const double *external, double *a);
/** hybrid with time derivatives: a and tau are (order + 1, nv). Digits fall with the order. */
int liedyn_hybrid_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                              const double *v, const unsigned char *prescribed, double *a,
                              double *tau, const double *external);

/** M (nv, nv). */
int liedyn_mass_matrix(const liedyn_model *model, void *work, const double *q, double *mass);
/** C (nv, nv): C v is bias less gravity, without dissipation; dM/dt - 2 C is skew-symmetric. */
int liedyn_coriolis_matrix(const liedyn_model *model, void *work, const double *q, const double *v,
                           double *coriolis);

/* ---- Partial derivatives --------------------------------------------------------------------- */

/*
 * Those by q are along the tangents of liedyn_integrate, v, a and tau staying the same numbers.
 * External wrenches stay the same in the frames of their bodies. Damping counts; the jump of Coulomb
 * friction has no derivative. Row k of a matrix (nv, nv) is that of entry k of tau or a.
 */

/** dtau/dq, dtau/dv and dtau/da = M (nv, nv). */
int liedyn_inverse_jacobians(const liedyn_model *model, void *work, const double *q, const double *v,
                             const double *a, const double *external, double *by_q, double *by_v,
                             double *by_a);
/** The change of tau along dq, dv, da: a product with the Jacobians, without them. */
int liedyn_inverse_product(const liedyn_model *model, void *work, const double *q, const double *v,
                           const double *a, const double *external, const double *dq,
                           const double *dv, const double *da, double *dtau);
/** The gradient of y . tau by q, v and a, each (nv). */
int liedyn_inverse_gradient(const liedyn_model *model, void *work, const double *q, const double *v,
                            const double *a, const double *external, const double *y, double *by_q,
                            double *by_v, double *by_a);
/** The change of that gradient along dq, dv, da: second derivatives times a vector. */
int liedyn_inverse_gradient_product(const liedyn_model *model, void *work, const double *q,
                                    const double *v, const double *a, const double *external,
                                    const double *y, const double *dq, const double *dv,
                                    const double *da, double *by_q, double *by_v, double *by_a);
/** a (nv), da/dq, da/dv and da/dtau (nv, nv). */
int liedyn_forward_jacobians(const liedyn_model *model, void *work, const double *q, const double *v,
                             const double *tau, const double *external, double *a, double *by_q,
                             double *by_v, double *by_tau);
/** a (nv), and its change along dq, dv, dtau. */
int liedyn_forward_product(const liedyn_model *model, void *work, const double *q, const double *v,
                           const double *tau, const double *external, const double *dq,
                           const double *dv, const double *dtau, double *a, double *da);
/** a (nv), and the gradient of y . a by q, v and tau, each (nv). */
int liedyn_forward_gradient(const liedyn_model *model, void *work, const double *q, const double *v,
                            const double *tau, const double *external, const double *y, double *a,
                            double *by_q, double *by_v, double *by_tau);

/* ---- Kinematics ------------------------------------------------------------------------------ */

/** Poses (B, 4, 4), twists and accelerations (B, 6) of all bodies; a NULL for v or a is zero. */
int liedyn_kinematics(const liedyn_model *model, void *work, const double *q, const double *v,
                      const double *a, double *poses, double *twists, double *accelerations);
/** T_ground_frame (4, 4). */
int liedyn_frame_pose(const liedyn_model *model, void *work, const double *q, int frame, double *pose);
/** The twist (6) of a frame. */
int liedyn_frame_twist(const liedyn_model *model, void *work, const double *q, const double *v,
                       int frame, int axes, double *twist);
/** The acceleration (6) of a frame, without gravity: spatial, or classical where that is not 0. */
int liedyn_frame_acceleration(const liedyn_model *model, void *work, const double *q, const double *v,
                              const double *a, int frame, int axes, int classical,
                              double *acceleration);
/** J (6, nv): J v is the twist of a frame. */
int liedyn_frame_jacobian(const liedyn_model *model, void *work, const double *q, int frame, int axes,
                          double *jacobian);
/** dJ/dt (6, nv). */
int liedyn_frame_jacobian_rate(const liedyn_model *model, void *work, const double *q,
                               const double *v, int frame, int axes, double *rate);

/** q (+) dv (nq). */
int liedyn_integrate(const liedyn_model *model, void *work, const double *q, const double *dv,
                     double *result);
/** The dv (nv) with q0 (+) dv = q1. */
int liedyn_difference(const liedyn_model *model, void *work, const double *q0, const double *q1,
                      double *dv);

/* ---- Stewart platforms ----------------------------------------------------------------------- */

/**
 * A platform on six legs: a view of a model file of a geometry. Leg lengths stand for all drive
 * coordinates: m, or rad of a crank, in the order of the geometry's legs. A pose (4, 4) is that of
 * the platform in the base, m; a twist is that of the body, in the platform's frame. The functions
 * above do not take a platform, nor these a tree.
 */
typedef struct liedyn_platform liedyn_platform;

int liedyn_platform_load(const char *path, void *memory, size_t bytes,
                         const liedyn_platform **platform);
int liedyn_platform_open(const void *content, size_t bytes, const liedyn_platform **platform);
const char *liedyn_leg_name(const liedyn_platform *platform, int leg);
int liedyn_find_leg(const liedyn_platform *platform, const char *name, int *leg);

/** As liedyn_work, liedyn_init, liedyn_explain. The order is that of leg forces. */
size_t liedyn_platform_work(const liedyn_platform *platform, int order);
int liedyn_platform_init(const liedyn_platform *platform, int order, void *work, size_t bytes);
int liedyn_platform_explain(const liedyn_platform *platform, const void *work, char *text, size_t size);

/** The lengths (6) of a pose. */
int liedyn_platform_lengths(const liedyn_platform *platform, void *work, const double *pose,
                            double *lengths);
/** dL/d(twist) (6, 6), axes LIEDYN_LOCAL for the body twist, LIEDYN_WORLD for the spatial one. */
int liedyn_platform_jacobian(const liedyn_platform *platform, void *work, const double *pose, int axes,
                             double *jacobian);

typedef struct { /* how far a pose is from singular; without units, 0 where it is */
  double signed_value;   /* smallest singular value of J, the sign that of its determinant */
  double slope;          /* its change along the null twist */
  double null_twist[6];  /* unit twist that changes the lengths least: rad, characteristic lengths */
} liedyn_singularity;
int liedyn_platform_singularity(const liedyn_platform *platform, void *work, const double *pose,
                                liedyn_singularity *singularity);

/** Margins (33), below 0 where exceeded: travel 6, joint angles 6 and 6, clearance of pairs 15. */
int liedyn_platform_margins(const liedyn_platform *platform, void *work, const double *pose,
                            double *margins);

enum liedyn_solve_status {
  LIEDYN_CONVERGED = 0, LIEDYN_MAX_ITERATIONS = 1, LIEDYN_STALLED = 2, LIEDYN_SINGULAR_POSE = 3
};
typedef struct {
  int status, iterations;
  double residual;                /* largest error of a length, m */
  double smallest_singular_value; /* or the least transmission of a drive, where that is less */
  double signed_value, slope;     /* as in liedyn_singularity, at the pose */
} liedyn_solution;
/**
 * The pose of six lengths, from a guess, by Levenberg-Marquardt: at most 50 iterations. pose may be
 * guess. With LIEDYN_NOT_CONVERGED, pose and solution are those where the solver stopped.
 */
int liedyn_platform_solve(const liedyn_platform *platform, void *work, const double *lengths,
                          const double *guess, double *pose, liedyn_solution *solution);

typedef struct {
  double error_radius;      /* the true pose is nearer, for all errors within the file's bounds, m */
  double uniqueness_radius; /* no other pose of the lengths is nearer, m */
  double regular_radius;    /* nor is a singularity, m */
  double bounds[6];         /* of rotation about the platform's axes, rad, and of its centre, m */
} liedyn_certificate;
/** The proof about a pose of lengths, NaN with LIEDYN_NOT_PROVED. */
int liedyn_platform_certify(const liedyn_platform *platform, void *work, const double *pose,
                            const double *lengths, liedyn_certificate *certificate);

enum liedyn_start { LIEDYN_PREDICTED = 0, LIEDYN_HOME = 1 }; /* the guess of a solve */
enum liedyn_flags { /* the bits of StewartStatus */
  LIEDYN_NEAR_SINGULARITY = 1, LIEDYN_BRANCH_CROSSED = 4, LIEDYN_BRANCH_UNSURE = 8,
  LIEDYN_BRANCH_WRONG = 16, LIEDYN_RESTARTED = 32
};
enum liedyn_branch_source { /* what a pose's branch rests on, as in StewartStatus */
  LIEDYN_UNSURE = 0, LIEDYN_OF_HOME = 1, LIEDYN_OF_MOTION = 2
};
typedef struct {
  double pose[16];         /* where the solver ended */
  liedyn_solution solution;
  double twist[6];         /* of the body, rad/s and m/s; NaN where none is known */
  double twist_span;       /* s between the two poses that it is the mean of; 0 at the stamp */
  int start, flags;        /* liedyn_start, liedyn_flags */
  int sign;                /* of the determinant on the branch that the motion leads to */
  double rate;             /* of the signed value, 1/s */
  double gap;              /* from the predicted pose along the null twist, rad or characteristic lengths */
  int branch_source;       /* liedyn_branch_source */
} liedyn_tracked;
/**
 * Let a tracker begin, or forget its motion: after a clock that was set back, say. home is the pose
 * of the first guess. leg_noise is the standard deviation of a length, m, or 0 where it is not known.
 */
int liedyn_platform_restart(const liedyn_platform *platform, void *work, const double *home,
                            double leg_noise);
/**
 * Take the last pose for the right one. Lengths have several poses: after a start far from home, or a
 * gap in which another pose was in reach, LIEDYN_BRANCH_UNSURE stays set until the platform comes near
 * home, or until you, who see the machine, call this. Before a first pose LIEDYN_NOT_STARTED.
 */
int liedyn_platform_confirm(const liedyn_platform *platform, void *work);
/**
 * The pose of a sample of lengths (6), taken at a time (ns), from the last good pose moved on at its
 * twist, or from home. rates (6) are measured ones, or NULL. Lengths beyond their travel and late
 * samples are refused and change nothing; with LIEDYN_NOT_CONVERGED the last good pose stays. The state
 * is in the work area. The calls above may be used in between.
 */
int liedyn_platform_track(const liedyn_platform *platform, void *work, int64_t stamp_ns,
                          const double *lengths, const double *rates, liedyn_tracked *tracked);

/**
 * Leg forces and their time derivatives (order + 1, 6) of a pose, a twist (6) and its derivatives
 * (order + 1, 6), for plain struts with masses. length_rates takes the derivatives of the lengths
 * from the second on. external (order + 1, 6) are wrenches on the platform in its frame.
 */
int liedyn_platform_inverse(const liedyn_platform *platform, void *work, int order, const double *pose,
                            const double *twist, const double *a, const double *external,
                            double *forces, double *length_rates);
/** The derivatives of the twist under leg forces. */
int liedyn_platform_forward(const liedyn_platform *platform, void *work, int order, const double *pose,
                            const double *twist, const double *forces, const double *external,
                            double *a, double *length_rates);

/* ---- Closed loops ---------------------------------------------------------------------------- */

/**
 * A machine with closed loops or couplings, such as mimic joints: a view of a model file. All
 * coordinates count, passive ones too. Closures and constraints (m rows) are in the order of Python's
 * ConstrainedDynamics. States have to be closed. The order of time derivatives is at most the file's.
 */
typedef struct liedyn_loops liedyn_loops;

int liedyn_loops_load(const char *path, void *memory, size_t bytes, const liedyn_loops **loops);
int liedyn_loops_open(const void *content, size_t bytes, const liedyn_loops **loops);
/**
 * The spanning tree, for names, kinematics and liedyn_integrate. It has its own work areas. Its
 * dynamics know nothing of the loops.
 */
const liedyn_model *liedyn_loops_tree(const liedyn_loops *loops);
int liedyn_loops_order(const liedyn_loops *loops);
int liedyn_constraints(const liedyn_loops *loops); /* m */
int liedyn_closures(const liedyn_loops *loops);    /* C */
const char *liedyn_constraint_name(const liedyn_loops *loops, int constraint);
const char *liedyn_closure_name(const liedyn_loops *loops, int closure);

/** As liedyn_work, liedyn_init, liedyn_explain, to the order of the file. */
size_t liedyn_loops_work(const liedyn_loops *loops);
int liedyn_loops_init(const liedyn_loops *loops, void *work, size_t bytes);
int liedyn_loops_explain(const liedyn_loops *loops, const void *work, char *text, size_t size);

enum liedyn_constraint_status { /* as ConstraintStatus of Python */
  LIEDYN_REGULAR = 0, LIEDYN_REDUNDANT = 1, LIEDYN_NEAR_SINGULAR = 2, LIEDYN_SINGULAR_LOOPS = 3,
  LIEDYN_INCONSISTENT = 4
};
typedef struct {
  int rank, status;                /* where coordinates are prescribed, never LIEDYN_SINGULAR_LOOPS */
  double inverse_condition_number; /* smallest pivot of the independent constraints over the largest */
  double actuation_inverse_condition_number; /* 1: actuators hold well; 0: not at all */
  double defect;                   /* relative acceleration that stays open */
} liedyn_constraint_report;

/**
 * tau and its time derivatives (order + 1, nv) of the file's actuators, of a and its own. Other joints
 * have tau 0. If there are more actuators than needed, the sum of tau^2 is least.
 */
int liedyn_loops_inverse(const liedyn_loops *loops, void *work, int order, const double *q,
                         const double *v, const double *a, const double *external, double *tau,
                         liedyn_constraint_report *report);
/** a and its time derivatives (order + 1, nv) of tau and its own; external is (order + 1, B, 6). */
int liedyn_loops_forward(const liedyn_loops *loops, void *work, int order, const double *q,
                         const double *v, const double *tau, const double *external, double *a,
                         liedyn_constraint_report *report);
/** a and tau (order + 1, nv) completed in their place, as by liedyn_hybrid_derivatives. */
int liedyn_loops_hybrid(const liedyn_loops *loops, void *work, int order, const double *q,
                        const double *v, const unsigned char *prescribed, double *a, double *tau,
                        const double *external, liedyn_constraint_report *report);
/**
 * What holds the loops closed in the last of these calls: multipliers (order + 1, m), and wrenches
 * (order + 1, C, 6) on body b of each closure, in frame b. Either may be NULL. LIEDYN_RANGE where that
 * call was refused, or had a lower order.
 */
int liedyn_loops_forces(const liedyn_loops *loops, void *work, int order, double *multipliers,
                        double *wrenches);
/** How far each constraint is open (m), rad and m, and the derivative (m, nv) of that, or NULL. */
int liedyn_loops_residual(const liedyn_loops *loops, void *work, const double *q, double *residual,
                          double *jacobian);
/**
 * v (nv) completed in its place by the constraints, where known (nv) is 0. Those entries are not
 * read. A NULL for known: the actuators' are known.
 */
int liedyn_loops_complete_velocity(const liedyn_loops *loops, void *work, const double *q,
                                   const unsigned char *known, double *v);
/** The same for a (order + 1, nv). */
int liedyn_loops_complete_acceleration(const liedyn_loops *loops, void *work, int order,
                                       const double *q, const double *v,
                                       const unsigned char *known, double *a);

typedef struct {
  double residual; /* the largest, rad or m, over the size of the machine where that is below 1 m */
  int constraint;  /* which one that is, for liedyn_constraint_name; -1 where all are exactly closed */
  int iterations;
} liedyn_assembly;
/**
 * A configuration (nq) that closes the loops, by Levenberg-Marquardt: at most 200 iterations. Attempt 0
 * starts from q_start (nq), which may be q; NULL is the neutral configuration. Each attempt above starts
 * from a random configuration of its own, the same at every call: another one may be another assembly.
 * Coordinates whose held (nv) is not 0 keep the value of q_start; NULL holds none. within_limits keeps all
 * others within their position limits. With LIEDYN_NOT_CONVERGED, q is where the attempt stopped.
 * report may be NULL.
 */
int liedyn_loops_assemble(const liedyn_loops *loops, void *work, int attempt, const double *q_start,
                          const unsigned char *held, int within_limits, double *q,
                          liedyn_assembly *report);

/**
 * All joints from the measured ones, which the file names: liedyn export --measured, by default the
 * actuated ones. The first sample follows from the file's configuration, each other from the last
 * good one, so that loops stay on their branch. LIEDYN_ABSENT where these joints do not decide.
 */
int liedyn_measured(const liedyn_loops *loops); /* n; 0 where the file has none */
const char *liedyn_measured_name(const liedyn_loops *loops, int joint);
typedef struct {
  double inverse_condition_number; /* 0 where measured joints no longer decide the others */
  double time_to_singularity;      /* s, until that is 0 at its present rate; infinite without rates */
  int redundant;                   /* more joints are measured than needed: q is a fit */
  double way;                      /* of LIEDYN_BLOCKED: the part of the way that is free */
  double error;                    /* largest error of the fit, rad or m */
} liedyn_loop_sample;
/** q (nq) and, unless both are NULL, v (nv), of positions and rates (n). sample may be NULL. */
int liedyn_loops_track(const liedyn_loops *loops, void *work, const double *positions,
                       const double *rates, double *q, double *v, liedyn_loop_sample *sample);
/** Let the next sample follow from a closed configuration (nq), such as that of another assembly. */
int liedyn_loops_restart(const liedyn_loops *loops, void *work, const double *q);

/*
 * Partial derivatives. They solve at order 0 and write that solution too. Those by q are along the
 * tangents of liedyn_integrate; they mean something along changes that keep loops closed. Wrenches stay
 * in the frames of their bodies. All Jacobians come from the factors of one solution.
 * LIEDYN_DEPENDENT where the rank of the constraints drops.
 */
int liedyn_loops_inverse_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                   const double *v, const double *a, const double *external,
                                   double *tau, double *by_q, double *by_v, double *by_a);
/** The change of tau along dq, dv, da. */
int liedyn_loops_inverse_product(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const double *a, const double *external,
                                 const double *dq, const double *dv, const double *da, double *tau,
                                 double *dtau);
/** The gradient of y . tau. */
int liedyn_loops_inverse_gradient(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const double *a, const double *external,
                                  const double *y, double *tau, double *by_q, double *by_v,
                                  double *by_a);
int liedyn_loops_forward_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                   const double *v, const double *tau, const double *external,
                                   double *a, double *by_q, double *by_v, double *by_tau);
int liedyn_loops_forward_product(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const double *tau, const double *external,
                                 const double *dq, const double *dv, const double *dtau, double *a,
                                 double *da);
int liedyn_loops_forward_gradient(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const double *tau, const double *external,
                                  const double *y, double *a, double *by_q, double *by_v,
                                  double *by_tau);
/**
 * Those of hybrid dynamics, whose a and tau are completed in their place. given (nv) is the change of
 * the prescribed accelerations and of the other forces. Row k of a Jacobian is that of the unknown k:
 * tau[k] where prescribed, a[k] elsewhere. y weighs these unknowns.
 */
int liedyn_loops_hybrid_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const unsigned char *prescribed, double *a,
                                  double *tau, const double *external, double *by_q, double *by_v,
                                  double *by_given);
int liedyn_loops_hybrid_product(const liedyn_loops *loops, void *work, const double *q,
                                const double *v, const unsigned char *prescribed, double *a,
                                double *tau, const double *external, const double *dq,
                                const double *dv, const double *given, double *da, double *dtau);
int liedyn_loops_hybrid_gradient(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const unsigned char *prescribed, double *a,
                                 double *tau, const double *external, const double *y,
                                 double *by_q, double *by_v, double *by_given);

#ifdef __cplusplus
}
#endif

#endif /* LIEDYN_H_ */
